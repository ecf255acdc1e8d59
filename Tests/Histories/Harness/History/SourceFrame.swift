/// A frame of the broadcast.
struct SourceFrame {
    let identity: FrameIdentity
    let segment: Int
    let format: MediaFormat
    /// Milliseconds since the channel began at which the frame is presented.
    let at: Double
    /// Its time on the source's clock, ticks.
    let clock: Int
}

extension FrameIdentity: CustomStringConvertible {
    var description: String {
        content >= Broadcast.firstCreative
            ? "frame \(frame) of ad \(content - Broadcast.firstCreative)" : "frame \(frame) of program \(content)"
    }
}

extension Broadcast {
    /// The frames in order of presentation, and the places of each segment's frames in them.
    func frames() -> (frames: [SourceFrame], places: [Range<Int>]) {
        var (frames, places): ([SourceFrame], [Range<Int>]) = ([], [])
        for segment in segments {
            let first = frames.count
            var at = Double(segment.start)
            for part in segment.parts {
                for frame in part.frames {
                    frames.append(
                        SourceFrame(
                            identity: FrameIdentity(content: part.content, frame: frame), segment: segment.index,
                            format: part.format, at: at, clock: part.clock + frame * part.format.frameDuration))
                    at += Double(part.format.frameDuration) / 90
                }
            }
            places.append(first..<frames.count)
        }
        return (frames, places)
    }
}
