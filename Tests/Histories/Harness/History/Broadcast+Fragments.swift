extension Broadcast {
    /// An init section, which has a name of its own for each content and after each renaming.
    struct InitSection {
        /// Those of the variants.
        let bodies: [[UInt8]]
        /// Those of the audio renditions.
        var audioBodies: [AudioRendition: [UInt8]] = [:]
        /// Whether its URL is never there.
        let isGone: Bool

        init(of part: TransportMultiplex.Part, _ history: History, isGone: Bool) {
            let multiplex = FragmentMultiplex(style: history.fragmentStyle)
            bodies = (0..<history.variantCount).map { multiplex.initialization(part.resized(for: $0), .multiplex) }
            self.isGone = isGone
            for rendition in history.renditions {
                audioBodies[rendition] = multiplex.initialization(part, .rendition(rendition))
            }
        }
    }
}

extension Broadcast.Segment {
    /// Makes the bytes of a segment, all of which has one configuration.
    mutating func writeFragments(_ history: History) {
        guard let part = parts.first else { return }
        let multiplex = FragmentMultiplex(style: history.fragmentStyle)
        bodies = (0..<history.variantCount).map { variant in
            multiplex.segment(part.resized(for: variant), .multiplex, number: index)
        }
        for rendition in history.renditions {
            audioBodies[rendition] = multiplex.segment(part, .rendition(rendition), number: index)
        }
    }
}

extension History {
    var fragmentStyle: FragmentMultiplex.Style {
        guard let event = all(.fragmented).first else { return FragmentMultiplex.Style() }
        func flips(_ salt: UInt64) -> Bool { event.pick(0...1, salt) == 1 }
        return FragmentMultiplex.Style(
            reordering: FragmentMultiplex.Reordering(rawValue: event.pick(0...2)) ?? .negativeOffsets,
            countsFrames: flips(1), hasFragmentPerGroup: flips(2), hasFragmentPerTrack: flips(3),
            usesDefaults: flips(4), hasSegmentType: flips(5))
    }
}
