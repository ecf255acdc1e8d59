import Media

/// Media in a codec that cannot be republished, by stream_type and descriptors. Layers that extend another video stream
/// do not count.
enum UnsupportedMedia: Equatable, Sendable {
    case video, audio

    private static let videoTypes: Set<UInt8> = [
        0x01, 0x02, 0x10, 0x21, 0x32, 0x33, 0x35, 0x42, 0xD1, 0xD2, 0xD4, 0xEA,
    ]
    private static let audioTypes: Set<UInt8> = [0x1C, 0x2D, 0x2E, 0x83]
    private static let registrations: [String: UnsupportedMedia] = [
        "AV01": .video, "VC-1": .video, "drac": .video, "Opus": .audio, "AC-4": .audio,
    ]

    init?(streamType: UInt8, _ descriptors: StreamDescriptors, program: StreamDescriptors) {
        guard ElementaryStreamKind(streamType: streamType, program: program, stream: descriptors) == nil else {
            return nil
        }
        if Self.videoTypes.contains(streamType) {
            self = .video
        } else if Self.audioTypes.contains(streamType) {
            self = .audio
        } else if streamType == 0x06, let media = descriptors.registration.flatMap({ Self.registrations[$0] }) {
            self = media
        } else {
            return nil
        }
    }
}
