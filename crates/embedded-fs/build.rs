//! Compiles FatFs and littlefs, unmodified, with our configuration.
//!
//! The C sources lie in the packages of two crates that are named in Cargo.toml for a target that does not exist, so
//! that cargo locks them but never compiles them (their build scripts need libclang). `cargo fetch` brings them, as long
//! as it is not told a target; the first build without it asks for them itself.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand};

const FATFS_PACKAGE: &str = "fatfs-embedded";
const LITTLEFS_PACKAGE: &str = "littlefs2-sys";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=Cargo.toml");
    println!("cargo::rerun-if-changed=c");
    if let Err(error) = build() {
        println!("cargo::error={error}");
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("Cargo.toml");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let metadata = metadata(&manifest)?;

    let fatfs = package_folder(&metadata, FATFS_PACKAGE)?.join("fatfs/source");
    let fatfs = without_its_configuration(&fatfs, &out.join("fatfs"))?;
    compiler()
        .include("c")
        .include(&fatfs)
        .files(["c/fatfs_sfn.c", "c/fatfs_sfn_tiny.c", "c/fatfs_lfn.c", "c/fatfs_lfn_tiny.c"])
        .try_compile("flashmark_fatfs")?;

    let littlefs = package_folder(&metadata, LITTLEFS_PACKAGE)?.join("littlefs");
    require(&littlefs, "lfs.c")?;
    compiler().include("c").include(&littlefs).file("c/littlefs.c").try_compile("flashmark_littlefs")?;
    Ok(())
}

fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    // Simulations run on this code in debug builds too.
    build.opt_level(2).warnings(false).std("c11");
    build
}

/// What cargo knows of this workspace: from what is fetched already where that is enough, else with the network.
fn metadata(manifest: &Path) -> Result<Metadata, Box<dyn Error>> {
    let ask = |options: &[&str]| {
        MetadataCommand::new()
            .manifest_path(manifest)
            .features(CargoOpt::AllFeatures)
            .other_options(options.iter().map(ToString::to_string).collect::<Vec<_>>())
            .exec()
    };
    let offline = match ask(&["--locked", "--offline"]) {
        Ok(metadata) => return Ok(metadata),
        Err(error) => one_line(&error.to_string()),
    };
    match ask(&["--locked"]) {
        Ok(metadata) => Ok(metadata),
        Err(error) => Err(format!(
            "the C sources of FatFs and littlefs were not found: `cargo metadata` failed; run `cargo fetch` (without \
             --target) with a network once, then build again. With the network: {}. Without: {offline}",
            one_line(&error.to_string())
        )
        .into()),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn package_folder(metadata: &Metadata, name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let package = metadata.packages.iter().find(|package| package.name.as_str() == name).ok_or_else(|| {
        format!(
            "the package `{name}`, which carries C sources, is not among this workspace's packages; is it still in \
             crates/embedded-fs/Cargo.toml?"
        )
    })?;
    let manifest = Path::new(package.manifest_path.as_str());
    Ok(manifest.parent().unwrap_or(manifest).to_owned())
}

fn require(folder: &Path, file: &str) -> Result<PathBuf, Box<dyn Error>> {
    let path = folder.join(file);
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!(
            "the C source {} is missing; run `cargo fetch`, or remove the package's folder from cargo's registry \
             (registry/src) so that it is unpacked again",
            path.display()
        )
        .into())
    }
}

/// Copies FatFs's sources, unchanged, to where its own `ffconf.h` is not: `ff.h` includes the one beside it before
/// any other.
fn without_its_configuration(source: &Path, to: &Path) -> Result<PathBuf, Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for file in ["ff.c", "ff.h", "ffunicode.c", "diskio.h"] {
        fs::write(to.join(file), fs::read(require(source, file)?)?)?;
    }
    Ok(to.to_owned())
}
