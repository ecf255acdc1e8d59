import PlaylistRules

extension Event {
    /// A segment with changed bytes and without some packets, but with the identities of its frames.
    func damage(_ body: inout [UInt8]) {
        var random = SeededGenerator(seed: value)
        var isIdentity = [Bool](repeating: false, count: body.count)
        let marks = [CodedVideo.identifier, CodedAudio.mark]
        for start in body.indices {
            for mark in marks where body[start] == mark[0] && body[start...].starts(with: mark) {
                // Another packet may begin inside.
                for index in start..<min(body.count, start + mark.count + 24) { isIdentity[index] = true }
            }
        }
        for _ in 0..<pick(1...40) {
            let index = Int.random(in: body.indices, using: &random)
            if !isIdentity[index] { body[index] = UInt8.random(in: 0...255, using: &random) }
        }
        let packets = body.count / 188
        let lost = pick(0...6, 1)
        let first = Int.random(in: 0..<max(1, packets - lost), using: &random)
        body.removeSubrange(first * 188..<min(body.count, (first + lost) * 188))
    }
}
