//! The texts of errors: where, what was found, what is expected, and what was probably meant.

mod support;

use support::{Machine, refusal};

#[test]
fn of_job_files() {
    let machine = Machine::default()
        .with_file("sections.fio", "bs=4k\n  [inner]\n")
        .with_file("bad.fio", "rw=read\n  bs=4k\n iodpeth=5\n")
        .with_file("circle.fio", "include circle.fio\n")
        .with_file("marked.fio", b"\xef\xbb\xbfrw=read\xe9\n")
        .with_file("latin.fio", b"bs=4k\ndescription=caf\xe9\n");
    let mut texts = String::new();
    for text in [
        "rw=read\n[a]\n",
        "include common.fio\n",
        "[a\n",
        "[a] b\n",
        "[]\n",
        "[a]\n =4k\n",
        "[a]\ninclude\n",
        "[a]\ninclude nowhere.fio\n",
        "[a]\ninclude sections.fio\n",
        "[a]\ninclude bad.fio\n",
        "[a]\ninclude circle.fio\n",
        "[a]\ninclude latin.fio\n",
        "[a]\nsize=$ncpus/0\n",
        "\u{feff}rw=read\n[a]\n",
        "\u{feff}[a\n",
        "\u{feff}[a]\nsize=x\n",
        "\u{feff}[a]\ninclude marked.fio\n",
    ] {
        texts += &format!("{}\n", machine.jobs(text).unwrap_err());
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn of_options() {
    let mut texts = String::new();
    for options in [
        "io_depth=4",
        "iodepth",
        "banana=1",
        "Direct=1",
        "nice=5",
        "steadystate=iops:1%",
        "rwmixcycle=5",
        "ioengine=rbd",
        "ioengine=io-uring",
        "verify=sha3-256",
        "mem=mmap:/tmp/x",
        "rw=randwrit",
        "rw=randread:x",
        "bs=4k,8k,1x",
        "bs=4k,8k,16k,32k",
        "size=1.5g",
        "size= 4k",
        "size=101%",
        "size=4z",
        "size=(4*1024*1024*1024)",
        "size=(10-2)",
        "size=(4k+(2*)",
        "iodepth=0",
        "runtime=10min",
        "runtime=1.5",
        "runtime=(500ms*3)",
        "bssplit=4k/60:8k/50",
        "bssplit=4k/60::8k/40",
        "random_distribution=zipf:1.0",
        "random_distribution=zoned:50/10:20/90",
        "percentile_list=50:99:101",
        "cpus_allowed=0-2,5-4",
        "verify_pattern=\"ab\"0x",
        "verify_pattern='file'",
        "ignore_error=ENOSPACE",
        "filename_format=$clientuid.$jobnum",
        "direct=true",
        "direct=ä4k",
        "size=${NOT}",
        "size=${NOT}k",
        "bs=4k,${NOT}-${NEITHER}",
        "ioengine=${NOT}rbd",
        "size=$ncpus*${NOT}",
        "startdelay=-1",
        "startdelay=1--2",
        "runtime=-1s",
        "ramp_time=(2-3)",
        "thinktime=-5",
        "rate_cycle=-1",
        "size=-4k",
        "bs=-4k",
    ] {
        texts += &format!("{}\n", refusal(options));
    }
    insta::assert_snapshot!(texts);
}
