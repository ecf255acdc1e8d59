extension [RunPiece] {
    /// Gives each item to the piece whose pictures are nearest to it: a segment in which the programme changes has
    /// several clocks.
    /// - Returns: how many found none.
    mutating func add(_ metadata: [TimedMetadata]) -> Int {
        guard !isEmpty else { return metadata.count }
        for item in metadata { self[nearest(to: item.time)].append(item) }
        return 0
    }

    private func nearest(to time: Ticks?) -> Int {
        guard let time else { return startIndex }
        return indices.min { self[$0].distance(to: time) < self[$1].distance(to: time) } ?? startIndex
    }
}

extension RunPiece {
    /// From its pictures to a time on the wire; 0 for one inside them.
    fileprivate func distance(to time: Ticks) -> Int64 {
        let window = window
        let unfolded = Ticks(wire: time, near: window.start)
        return Swift.max((window.start - unfolded).count, (unfolded - window.end).count, 0)
    }
}
