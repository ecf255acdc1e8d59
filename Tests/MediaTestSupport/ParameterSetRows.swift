import Testing

/// Sequence parameter sets by encoders, and their description by ffprobe and ffmpeg's trace_headers.
struct ParameterSetRow: CustomTestStringConvertible, Sendable {
    let name: String
    /// The NAL unit.
    let hex: String
    /// Expected size, aspect ratio, frame rate, color and codec string.
    let expected: String

    init(_ name: String, _ hex: String, _ expected: String) {
        (self.name, self.hex, self.expected) = (name, hex, expected)
    }

    var testDescription: String { name }
    var nalUnit: [UInt8] { bytes(hex) }
}

/// Parameter sets that x264 writes for these kinds of streams.
let h264Rows: [ParameterSetRow] = [
    .init(
        "baseline, level 1.1",
        "6742c00bda0b13b0110000030001000003001e0f142aa0",
        "176x144 sar 1:1 rate 15/1 colour - avc1.42C00B"),
    .init(
        "constrained baseline, no VUI timing",
        "6742c00dda0507ec0440000003004000000f03c50aa8",
        "320x240 sar 1:1 rate 30/1 colour - avc1.42C00D"),
    .init(
        "main, level 3.0",
        "6742c01eda0280bfe5c044000003000400000300c83c58ba80",
        "640x360 sar 1:1 rate 25/1 colour - avc1.42C01E"),
    .init(
        "main, interlaced",
        "674d401ef405a126c044000003000400000300c87c50aa80",
        "720x576 sar 1:1 rate 25/1 colour - avc1.4D401E"),
    .init(
        "high, 360p29.97",
        "6764001eacb405017fcb808800001f480007530078b175",
        "640x360 sar 1:1 rate 30000/1001 colour - avc1.64001E"),
    .init(
        "high, 720p25",
        "6764001facb402802dd808800000030080000019078c1950",
        "1280x720 sar 1:1 rate 25/1 colour - avc1.64001F"),
    .init(
        "high, 720p50",
        "67640020acb402802dd808800000030080000032078c1950",
        "1280x720 sar 1:1 rate 50/1 colour - avc1.640020"),
    .init(
        "high, 720p59.94",
        "67640029acb402802dd808800001f48000ea60078c1950",
        "1280x720 sar 1:1 rate 60000/1001 colour - avc1.640029"),
    .init(
        "high, 1080p: 8 rows are cropped",
        "67640028acb403c0113f2e0220000003002000000641e30654",
        "1920x1080 sar 1:1 rate 25/1 colour - avc1.640028"),
    .init(
        "high, 1080p23.976",
        "67640028acb403c0113f2e022000007d2000177001e30654",
        "1920x1080 sar 1:1 rate 24000/1001 colour - avc1.640028"),
    .init(
        "high, 1080i25: cropped by fields",
        "67640028ace8078044fde022000003000200000300643e2c5d40",
        "1920x1080 sar 1:1 rate 25/1 colour - avc1.640028"),
    .init(
        "high, 1080i29.97, bottom field first",
        "67640028ace8078044fde022000007d20001d4c03e2c5d40",
        "1920x1080 sar 1:1 rate 30000/1001 colour - avc1.640028"),
    .init(
        "anamorphic 1440x1080",
        "67640028acb402d0113f2e1c20000003002000000641e30654",
        "1440x1080 sar 4:3 rate 25/1 colour - avc1.640028"),
    .init(
        "PAL wide screen",
        "6764001eacb405a0936082000003000200000300641e2c5d40",
        "720x576 sar 16:11 rate 25/1 colour - avc1.64001E"),
    .init(
        "PAL 4:3, interlaced",
        "6764001eace80b424d810800000300080000030190f8a155",
        "720x576 sar 12:11 rate 25/1 colour - avc1.64001E"),
    .init(
        "NTSC 4:3",
        "6764001eacb405a1ed818800001f480007530078b175",
        "720x480 sar 10:11 rate 30000/1001 colour - avc1.64001E"),
    .init(
        "NTSC wide screen",
        "6764001eacb40581ed828800001f480007530078b175",
        "704x480 sar 40:33 rate 30000/1001 colour - avc1.64001E"),
    .init(
        "extended SAR",
        "6764001eacb40440937fe003000222000003000200000300641e2c5d40",
        "544x576 sar 24:17 rate 25/1 colour - avc1.64001E"),
    .init(
        "extended SAR, large terms",
        "6764001facb402602bfdffe097e09802000003000200000300641e306540",
        "1216x684 sar 1215:1216 rate 25/1 colour - avc1.64001F"),
    .init(
        "square samples said",
        "6764001eacb406c1ef3780880000030008000003019078b175",
        "854x480 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "odd crop: 854x478",
        "6764001eacb406c1ef356022000003000200000300641e2c5d40",
        "854x478 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "small: 16x16",
        "6764000aacb4f60220000003002000000641e244d4",
        "16x16 sar 1:1 rate 25/1 colour - avc1.64000A"),
    .init(
        "narrow: 18x34",
        "6764000aacb44fc4446022000003000200000300641e244d40",
        "18x34 sar 1:1 rate 25/1 colour - avc1.64000A"),
    .init(
        "UHD",
        "67640033acb401e0021f6022000003000200000300641e306540",
        "3840x2160 sar 1:1 rate 25/1 colour - avc1.640033"),
    .init(
        "UHD 50, level 5.2",
        "67640034acb401e0021f6022000003000200000300c81e306540",
        "3840x2160 sar 1:1 rate 50/1 colour - avc1.640034"),
    .init(
        "portrait 1080x1920",
        "67640028acb402201e3cbe0220000003002000000781e30654",
        "1080x1920 sar 1:1 rate 30/1 colour - avc1.640028"),
    .init(
        "BT.709 said",
        "6764001facb402802dd80b50101014000003000400000300c83c60ca80",
        "1280x720 sar 1:1 rate 25/1 colour 1/1/1 limited avc1.64001F"),
    .init(
        "BT.601 PAL said",
        "6764001eacb405a093602d4141415000000300100000030320f162ea",
        "720x576 sar 1:1 rate 25/1 colour 5/5/5 limited avc1.64001E"),
    .init(
        "SMPTE 170M said",
        "6764001eacb405a1ed80b5060606400000fa40003a9803c58ba8",
        "720x480 sar 1:1 rate 30000/1001 colour 6/6/6 limited avc1.64001E"),
    .init(
        "BT.2020 PQ, ten bits",
        "676e0020a6cb402802dd80b509100940000003004000001903c60ca8",
        "1280x720 sar 1:1 rate 50/1 colour 9/16/9 limited avc1.6E0020"),
    .init(
        "HLG, ten bits",
        "676e0020a6cb402802dd80b509120940000003004000001903c60ca8",
        "1280x720 sar 1:1 rate 50/1 colour 9/18/9 limited avc1.6E0020"),
    .init(
        "full range without colour",
        "6764001eacb405017fcb80b640000003004000000c83c58ba8",
        "640x360 sar 1:1 rate 25/1 colour 2/2/2 full avc1.64001E"),
    .init(
        "full range and colour",
        "6764001eacb405017fcb80b7010d0140000003004000000c83c58ba8",
        "640x360 sar 1:1 rate 25/1 colour 1/13/1 full avc1.64001E"),
    .init(
        "video format and overscan",
        "6764001eacb405017fcb80d220000003002000000641e2c5d4",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "overscan crop",
        "6764001eacb405017fcb80e4000003000400000300c83c58ba80",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "chroma location",
        "6764001eacb405017fcb8096e0000003002000000641e2c5d4",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "HRD: VBR",
        "6764001eacb405017fcb808800000300080000030193020007a12000f425261003c58ba8",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "HRD: CBR",
        "67640020acb402802dd80880000003008000003230200016e360002dc6f269403c60ca80",
        "1280x720 sar 1:1 rate 50/1 colour - avc1.640020"),
    .init(
        "HRD beside interlace and pic_struct",
        "6764001eace80b424d808800000300080000030193130007a12000f427261007c50aa8",
        "720x576 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "pic_struct without HRD",
        "6764001eacb405017fcb808800000300080000030190f8b175",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "high 4:2:2",
        "677a001ebcb405017fc4e022000003000200000300641e2c5d40",
        "640x360 sar 1:1 rate 25/1 colour - avc1.7A001E"),
    .init(
        "high 4:2:2, odd height, ten bits",
        "677a001eb6cb405017fc5e0220000003002000000641e2c5d4",
        "640x358 sar 1:1 rate 25/1 colour - avc1.7A001E"),
    .init(
        "high 4:4:4 predictive",
        "67f4001e919680a02ff89c0440000003004000000c83c58ba8",
        "640x360 sar 1:1 rate 25/1 colour - avc1.F4001E"),
    .init(
        "high 4:4:4 predictive, odd crop",
        "67f4001e919680a02fe68cc044000003000400000300c83c58ba80",
        "635x357 sar 1:1 rate 25/1 colour - avc1.F4001E"),
    .init(
        "lossless: transform bypass",
        "67f4001e91d680a02ff89c0440000003004000000c83c58ba8",
        "640x360 sar 1:1 rate 25/1 colour - avc1.F4001E"),
    .init(
        "monochrome",
        "6764001ef2d01405ff1380b640000003004000000c83c58ba8",
        "640x360 sar 1:1 rate 25/1 colour 2/2/2 full avc1.64001E"),
    .init(
        "ten bits, intra only",
        "676e101ea6cb81405ff2e0220000030002000003006408",
        "640x360 sar 1:1 rate 25/1 colour - avc1.6E101E"),
    .init(
        "intra only, eight bits",
        "6764101eacb81405ff2e022000000300200000064080",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64101E"),
    .init(
        "quantizer matrices, which go to the PPS",
        "6764001eacb405017fcb80880000030008000003019078b175",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "no B-frames",
        "6764001eacb405017fcb80880000030008000003019078b175",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "16 reference frames",
        "67640015ac4c220a0cfcf808800000030080000019078b1708c0",
        "320x180 sar 1:1 rate 25/1 colour - avc1.640015"),
    .init(
        "B-pyramid",
        "6764001eacc850280bfe5c0440000003004000000c83c58b6580",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "variable frame rate",
        "6764001eacb405017fcb80880000030008000003019078b175",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "open GOP",
        "6764001eacb405017fcb80880000030008000003019078b175",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "stereo 3D",
        "6764001eacb405017fcb80880000030008000003019078b175",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "fake interlaced",
        "67640020acb402805cf97011000003000100000300320f1832a0",
        "1280x720 sar 1:1 rate 25/1 colour - avc1.640020"),
    .init(
        "SPS id 5",
        "6764001e32cb405017fcb808800000030080000019078b1750",
        "640x360 sar 1:1 rate 25/1 colour - avc1.64001E"),
    .init(
        "emulation prevention in the clock",
        "67640016acb405017fcb80880000030008000003001078b175",
        "640x360 sar 1:1 rate 1/1 colour - avc1.640016"),
    .init(
        "very slow clock",
        "67640016acb405017fcb80880000030020000003001078b175",
        "640x360 sar 1:1 rate - colour - avc1.640016"),
    .init(
        "300 frames a second",
        "6764001facb40a0cfcf80880000003008000012c078c1950",
        "320x180 sar 1:1 rate 300/1 colour - avc1.64001F"),
    .init(
        "AVC-Intra 100, no VUI clock",
        "677a1029b6d420223319c6632321011198ce331918210256b93d7d7e4fe33f11f19e08b88c5443c0780227e27016a02020280000030008000003019420",
        "1920x1080 sar 1:1 rate 25/1 colour 1/1/1 limited avc1.7A1029"),
]

/// Parameter sets that x265 writes.
let hevcRows: [ParameterSetRow] = [
    .init(
        "main",
        "42010101600000030090000003000003003ca00a080c1f3e595952930bc05a020000030002000003003210",
        "320x180 sar 1:1 rate 25/1 colour - hvc1.1.6.L60.90"),
    .init(
        "main, 1080p: 8 rows outside the window",
        "42010101600000030090000003000003007ba003c0801107cb965654a4c2f0168080000003008000001904",
        "1920x1080 sar 1:1 rate 50/1 colour - hvc1.1.6.L123.90"),
    .init(
        "UHD, high tier",
        "420101222000000300900000030000030099a001e020021c4d965654a4c2f0168080000003008000001904",
        "3840x2160 sar 1:1 rate 50/1 colour - hvc1.2.4.H153.90"),
    .init(
        "ten bits, PQ",
        "420101022000000300900000030000030078a00280802d136595952930bc05a848804820000003002000000641",
        "1280x720 sar 1:1 rate 50/1 colour 9/16/9 limited hvc1.2.4.L120.90"),
    .init(
        "ten bits, HLG",
        "420101022000000300900000030000030078a00280802d136595952930bc05a848904820000003002000000641",
        "1280x720 sar 1:1 rate 50/1 colour 9/18/9 limited hvc1.2.4.L120.90"),
    .init(
        "twelve bits",
        "420101040800000300998800000300003fa005020171f294a595952930bc05a02000000300200000030321",
        "640x360 sar 1:1 rate 25/1 colour - hvc1.4.10.L63.99.88"),
    .init(
        "4:2:2 ten bits",
        "4201010408000003009d0800000300003fb005020171f16d965654a4c2f0168080000003008000000c84",
        "640x358 sar 1:1 rate 25/1 colour - hvc1.4.10.L63.9D.8"),
    .init(
        "4:4:4",
        "4201010408000003009e0800000300003f9000a0402e39a332caca94985e02d0100000030010000003019080",
        "635x357 sar 1:1 rate 25/1 colour - hvc1.4.10.L63.9E.8"),
    .init(
        "monochrome",
        "4201010408000003009fc800000300003fc0140805c7c4e595952930bc05b02000000300200000030321",
        "640x360 sar 1:1 rate 25/1 colour 2/2/2 full hvc1.4.10.L63.9F.C8"),
    .init(
        "29.97, PAL shape",
        "42010101600000030090000003000003005aa005a200905965654a4c2f04680800001f480003a98040",
        "720x576 sar 16:11 rate 30000/1001 colour - hvc1.1.6.L90.90"),
    .init(
        "extended SAR",
        "42010101600000030090000003000003005aa0044200905965654a4c2fff001800116808000003000800000300c840",
        "544x576 sar 24:17 rate 25/1 colour - hvc1.1.6.L90.90"),
    .init(
        "full range",
        "42010101600000030090000003000003003fa005020171f2e595952930bc05b02000000300200000030321",
        "640x360 sar 1:1 rate 25/1 colour 2/2/2 full hvc1.1.6.L63.90"),
    .init(
        "HRD",
        "42010101600000030090000003000003005da00280802d16595952930bc05a0200000300020000030032c0192cbc0004c4b00004c4b440",
        "1280x720 sar 1:1 rate 25/1 colour - hvc1.1.6.L93.90"),
    .init(
        "fields",
        "42010101600000030040000003000003005aa005a201216595952930bc05a1a0000003002000000641",
        "720x288 sar 1:1 rate 50/1 colour - hvc1.1.6.L90.40"),
    .init(
        "temporal layers",
        "42010201600000030090000003000003003f0000a005020171f2e59598acc94985e02d010000030001000003001908",
        "640x360 sar 1:1 rate 25/1 colour - hvc1.1.6.L63.90"),
    .init(
        "scaling lists of the standard",
        "42010101600000030090000003000003003fa005020171f2e5959529385e02d0100000030010000003019080",
        "640x360 sar 1:1 rate 25/1 colour - hvc1.1.6.L63.90"),
    .init(
        "chroma location and overscan",
        "42010101600000030090000003000003003fa005020171f2e595952930bc0792d840000003004000000642",
        "640x360 sar 1:1 rate 25/1 colour - hvc1.1.6.L63.90"),
    .init(
        "display window",
        "42010101600000030090000003000003003fa005020171f2e595952930bc05a0448912260000030002000003003210",
        "640x360 sar 1:1 rate 25/1 colour - hvc1.1.6.L63.90"),
    .init(
        "intra only",
        "4201010408000003009fa800000300003fa005020171f2e5ba4a4c2f016808000003000800000300c840",
        "640x360 sar 1:1 rate 25/1 colour - hvc1.4.10.L63.9F.A8"),
    .init(
        "without VUI clock",
        "42010101600000030090000003000003003fa005020171f2e595952930bc05a002",
        "640x360 sar 1:1 rate - colour - hvc1.1.6.L63.90"),
    .init(
        "many reference pictures",
        "42010101600000030090000003000003003fa005020171f2e599992930bc05a02000000300200000030321",
        "640x360 sar 1:1 rate 25/1 colour - hvc1.1.6.L63.90"),
]
