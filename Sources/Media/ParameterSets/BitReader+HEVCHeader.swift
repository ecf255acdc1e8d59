extension BitReader {
    /// nal_unit_header (ISO/IEC 23008-2 §7.3.1.2).
    mutating func hevcHeader(type: Int) throws(MediaError) {
        try skip(1)
        _ = try u(6, "nal_unit_type", in: type...type)
        try skip(6 + 3)
    }
}
