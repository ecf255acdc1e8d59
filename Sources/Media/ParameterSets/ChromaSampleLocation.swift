/// The location of chroma samples in each field (Figure E-1).
struct ChromaSampleLocation: Equatable, Sendable {
    var chromaSampleLocTypeTopField: Int
    var chromaSampleLocTypeBottomField: Int

    init(_ bits: inout BitReader) throws(MediaError) {
        chromaSampleLocTypeTopField = try bits.ue("chroma_sample_loc_type_top_field", in: 0...5)
        chromaSampleLocTypeBottomField = try bits.ue("chroma_sample_loc_type_bottom_field", in: 0...5)
    }
}
