import Media
import Support

extension MovieFile {
    /// The longest time between video and audio at one place of a file.
    private static let longestSkew = Ticks.seconds(10)

    /// Cuts the file where a sync sample of its video begins. Each sample is in one segment: the one in which it is located.
    ///
    /// - Throws: if audio and video that are presented together are far apart, or a segment is too large.
    func segments(_ cutting: FileCutting) throws(MediaError) -> [FileSegment] {
        guard let main = video ?? audio, main.samples.contains(where: \.isSync) else {
            throw .movie(.noSyncSample)
        }
        let companion = video == nil ? nil : audio
        var (segments, start, audioStart) = ([FileSegment](), 0, 0)
        for index in main.samples.indices.dropFirst() {
            StepCounter.add(1)
            if index & 0xFFF == 0 { try MediaError.checkCancellation() }
            let sample = main.samples[index]
            let elapsed = main.decodeTime(index) - main.decodeTime(start)
            let first = min(main.samples[start].offset, companion?.offset(audioStart) ?? .max)
            guard
                sample.isSync && elapsed >= cutting.shortest || elapsed >= cutting.longest
                    || sample.end - first > UInt64(cutting.maxBytes / 2)
            else { continue }
            let audioEnd = companion.map { max(audioStart, $0.firstIndex(from: sample.offset)) } ?? 0
            segments.append(
                try segment(main, start..<index, companion, audioStart..<audioEnd, isFirst: segments.isEmpty, cutting))
            (start, audioStart) = (index, audioEnd)
        }
        segments.append(
            try segment(
                main, start..<main.samples.count, companion, audioStart..<(companion?.samples.count ?? 0),
                isFirst: segments.isEmpty, cutting))
        return segments
    }

    private func segment(
        _ main: SampleTrack, _ indices: Range<Int>, _ audio: SampleTrack?, _ audioIndices: Range<Int>, isFirst: Bool,
        _ cutting: FileCutting
    ) throws(MediaError) -> FileSegment {
        let (start, end) = (main.decodeTime(indices.lowerBound), main.decodeTime(indices.upperBound))
        var range = main.range(of: indices)
        if let audio, !audioIndices.isEmpty {
            let other = audio.range(of: audioIndices)
            range = min(range.lowerBound, other.lowerBound)..<max(range.upperBound, other.upperBound)
            let isLast = indices.upperBound == main.samples.count
            // One of the tracks may begin long before the other one, or end after it.
            let isEarly = !isFirst && audio.decodeTime(audioIndices.lowerBound) < start - Self.longestSkew
            let isLate = !isLast && audio.decodeTime(audioIndices.upperBound) > end + Self.longestSkew
            if isEarly || isLate { throw .movie(.notInterleaved) }
        }
        guard range.upperBound - range.lowerBound <= UInt64(cutting.maxBytes) else {
            throw .movie(.segmentTooLarge(bytes: range.upperBound - range.lowerBound))
        }
        return FileSegment(range: range, duration: end - start)
    }
}

extension SampleTrack {
    fileprivate func offset(_ index: Int) -> UInt64? { index < samples.count ? samples[index].offset : nil }

    fileprivate func range(of indices: Range<Int>) -> Range<UInt64> {
        samples[indices.lowerBound].offset..<samples[indices.upperBound - 1].end
    }
}
