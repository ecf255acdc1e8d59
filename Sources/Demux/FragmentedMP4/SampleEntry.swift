package import Media

/// A coding of the samples of a track: one entry of `stsd` (ISO/IEC 14496-12 §8.5.2).
package struct SampleEntry: Equatable, Sendable {
    package enum Format: Equatable, Sendable {
        case video(width: UInt16, height: UInt16)
        /// Channels and sample rate in Hz; a rate that needs more than 16 bits is 0.
        case audio(channels: UInt16, sampleRate: UInt32)
        case other
    }

    package let type: BoxType
    package let format: Format
    /// The boxes in the entry in file order: avcC, colr, esds and so on.
    package let configuration: [Box]

    private static let section = "ISO/IEC 14496-12 §8.5.2"

    init(_ entry: Box, handler: BoxType) throws(MediaError) {
        type = entry.type
        var fields = BoxFields(entry.body)
        switch handler {
        case "vide":
            try fields.skip(24)
            format = .video(width: try fields.u16(), height: try fields.u16())
            try fields.skip(50)
        case "soun":
            try fields.skip(16)
            let channels = try fields.u16()
            try fields.skip(6)
            format = .audio(channels: channels, sampleRate: try fields.u32() >> 16)
        case "text" where entry.type == "wvtt":
            format = .other
            try fields.skip(8)
        default:
            format = .other
            configuration = []
            return
        }
        // Some writers leave one or two zeros after the last box.
        configuration = try BoxReader.wholeBoxes(in: fields.rest).boxes
    }

    func child(_ type: BoxType) -> ArraySlice<UInt8>? { configuration.first(type)?.body }

    func require(_ type: BoxType) throws(MediaError) -> ArraySlice<UInt8> {
        guard let payload = child(type) else {
            throw MediaError(.badParameterSet(field: "\(type)"), section: Self.section)
        }
        return payload
    }

    private static let protectedTypes: Set<BoxType> = ["encv", "enca", "drmi", "drms"]

    /// The scheme_type of a protected entry (§8.12), or its own type if it has none; nil if samples are clear.
    package var protectionScheme: String? {
        guard Self.protectedTypes.contains(type) else { return nil }
        let boxes = child("sinf").flatMap { try? BoxReader.wholeBoxes(in: $0).boxes }
        guard let scheme = boxes?.first("schm")?.body.dropFirst(4).prefix(4), scheme.count == 4 else {
            return "\(type)"
        }
        return "\(BoxType(code: scheme.reduce(0) { $0 << 8 | UInt32($1) }))"
    }
}
