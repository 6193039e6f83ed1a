3 -10025 3/6 0/0 0 ed930d4a
4 0 0/0 0/0 0 00000000
5 0 0/0 32/64 16 5ff0526e
6 0 48/4160 0/0 0 4a4a1722
7 1 34/8704 2/51 0 7349ec8d
8 600 0/0 10/877 0 e238b44b
9 0 0/0 0/0 0 00000000
10 1 0/0 0/0 0 00000000
11 0 0/0 5/262 0 f06a87d5 overwrite=1
12 0 1/256 0/0 0 6ba6ba6d size=600 type=1 id=0001 name=a meta=111bf2df
13 0 0/0 5/262 0 5ab0eb67 overwrite=1
14 0 2/305 0/0 0 9e9ed996 size=600 type=1 id=0001 name=a meta=b556e3f2
15 0 0/0 5/262 0 23b24b54 overwrite=1
16 0 1/256 0/0 0 fc39ab44 size=600 type=1 id=0001 name=a meta=111bf2df
17 0 0/0 5/262 0 3d2a97a7 overwrite=1
18 0 2/305 0/0 0 ee235460 size=600 type=1 id=0001 name=a meta=b556e3f2
19 0 0/0 5/262 0 ec4a54b7 overwrite=1
20 0 1/256 0/0 0 ac06d019 size=600 type=1 id=0001 name=a meta=8ff50c6e
21 0 0/0 5/262 0 6a950091 overwrite=1
22 0 2/305 0/0 0 fe1c602a size=600 type=1 id=0001 name=a meta=2bb81d43
23 0 0/0 5/262 0 1397a0a2 overwrite=1
24 0 1/256 0/0 0 3b99c130 size=600 type=1 id=0001 name=a meta=8ff50c6e
25 0 0/0 5/262 0 024cd812 overwrite=1
26 0 2/305 0/0 0 ce5d3cf4 size=600 type=1 id=0001 name=a meta=2bb81d43
27 0 0/0 5/262 0 1b47253f overwrite=1
28 0 1/256 0/0 0 5849f40a size=600 type=1 id=0001 name=a meta=99ab082b
29 0 0/0 5/262 0 7d5eda3c overwrite=1
30 0 2/305 0/0 0 de6208be size=600 type=1 id=0001 name=a meta=3de61906
31 0 0/0 5/262 0 045c7a0f overwrite=1
32 0 1/256 0/0 0 cfd6e523 size=600 type=1 id=0001 name=a meta=99ab082b
33 0 1/256 5/262 0 ef336b12 overwrite=1
34 0 2/305 0/0 0 2739bd3d size=600 type=1 id=0001 name=a meta=3de61906
35 0 0/0 5/262 0 a419dd1a overwrite=1
36 0 1/256 0/0 0 c9df182d size=600 type=1 id=0001 name=a meta=0745f69a
37 0 0/0 5/262 0 dd1b7d29 overwrite=1
38 0 2/305 0/0 0 37068977 size=600 type=1 id=0001 name=a meta=a308e7b7
39 0 0/0 5/262 0 ccc00599 overwrite=1
40 0 1/256 0/0 0 aa0f2d17 size=600 type=1 id=0001 name=a meta=0745f69a
41 0 0/0 5/262 0 1cf0375c overwrite=1
42 0 2/305 0/0 0 0747d5a9 size=600 type=1 id=0001 name=a meta=a308e7b7
43 0 0/0 5/262 0 16c7212f overwrite=1
44 0 1/256 0/0 0 3d903c3e size=600 type=1 id=0001 name=a meta=db0b0177
45 0 0/0 5/262 0 9485183b overwrite=1
46 0 2/305 0/0 0 1778e1e3 size=600 type=1 id=0001 name=a meta=915ab043
47 0 0/0 5/262 0 715d5def overwrite=1
48 0 1/256 0/0 0 6daf4763 size=600 type=1 id=0001 name=a meta=db0b0177
49 0 0/0 5/262 0 d339d5a0 overwrite=1
50 0 2/305 0/0 0 67c56c15 size=600 type=1 id=0001 name=a meta=915ab043
51 0 0/0 5/262 0 26e2cad9 overwrite=1
52 0 1/256 0/0 0 fa30564a size=600 type=1 id=0001 name=a meta=45e5ffc6
53 0 0/0 5/262 0 a4a0f3cd overwrite=1
54 0 2/305 0/0 0 77fa585f size=600 type=1 id=0001 name=a meta=0fb44ef2
55 0 0/0 5/262 0 4e3b125a overwrite=1
56 0 1/256 0/0 0 99e06370 size=600 type=1 id=0001 name=a meta=45e5ffc6
57 0 0/0 5/262 0 654bb9b8 overwrite=1
58 0 2/305 0/0 0 47bb0481 size=600 type=1 id=0001 name=a meta=0fb44ef2
59 0 0/0 5/262 0 31291074 overwrite=1
60 0 1/256 0/0 0 0e7f7259 size=600 type=1 id=0001 name=a meta=53bbfb83
