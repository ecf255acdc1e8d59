/// A published WebVTT file.
struct PublishedSubtitles {
    struct Cue {
        let identity: FrameIdentity
        /// Ticks of 33 bits.
        let start: Int
    }

    let number: UInt64
    let at: Int
    var cues: [Cue] = []

    init(number: UInt64, at: Int, text: String) {
        (self.number, self.at) = (number, at)
        var (local, media) = (0, 0)
        var start: Int?
        for line in text.split(separator: "\n") {
            if line.hasPrefix("X-TIMESTAMP-MAP=") {
                for part in line.dropFirst(16).split(separator: ",") {
                    let pair = part.split(separator: ":", maxSplits: 1)
                    guard pair.count == 2 else { continue }
                    if pair[0] == "LOCAL" { local = Self.milliseconds(pair[1]) }
                    if pair[0] == "MPEGTS" { media = Int(pair[1]) ?? 0 }
                }
            } else if let arrow = line.firstRange(of: " --> ") {
                start = (Self.milliseconds(line[..<arrow.lowerBound]) - local) * 90 + media
            } else if let begin = start, let identity = FrameIdentity(digits: Array(line.utf8)[...]) {
                cues.append(Cue(identity: identity, start: begin))
                start = nil
            }
        }
    }

    /// Reads `00:00:01.500` or `00:01.500`.
    private static func milliseconds(_ text: Substring) -> Int {
        let parts = text.split { ":.".contains($0) }.compactMap { Int($0) }
        return (parts.dropLast().reduce(0) { $0 * 60 + $1 }) * 1000 + (parts.last ?? 0)
    }
}
