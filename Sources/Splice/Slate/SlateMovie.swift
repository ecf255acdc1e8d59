import Demux
package import Media
import Mux
import Transcode

/// An ordinary MP4 file as a loop of segments: what fragmented MP4 would have been made of it, one piece at a time
/// (ISO/IEC 14496-12 §8.6–§8.8). So a slate takes the same way into the splice as a channel.
///
/// It holds the tables and no sample: each piece says which bytes of the file it needs, and is made of them.
package struct SlateMovie: Sendable {
    package enum AudioTrackUse: Equatable, Sendable {
        case copied
        /// The file has no track of sound.
        case absent
        /// None of its tracks can be copied: the slate is shown with silence. Their sample entries.
        case unusable(sampleEntries: [String])
    }

    /// What the segments of all pieces are read with.
    package let initialization: [UInt8]
    package let audioTrackUse: AudioTrackUse
    private let video: SlateTrack
    private let audio: SlateTrack?
    /// Places of the pictures where a piece may begin.
    private let syncSamples: [Int]

    /// A clock that goes back by less may be a picture that came late.
    static let shortest = Ticks.seconds(1)

    /// - Parameters: `moov`: the whole box; `fileSize`: bytes of the file it is of.
    package init(moov: [UInt8], fileSize: UInt64) throws(MediaError) {
        let box = try BoxReader.boxes(in: moov[...]).require("moov")
        let boxes = try box.children()
        if boxes.first("mvex") != nil { throw .slate(.fragmented) }
        let movie = try Movie(box)
        let choice = try SlateTrackChoice(movie)
        let traks = boxes.filter { $0.type == "trak" }
        guard
            let pictures = try SlateTrack(
                traks[choice.video], movie.tracks[choice.video], of: movie, fileSize: fileSize)
        else { throw .slate(.noSyncSample) }
        let audio = try choice.audio.flatMap { (index) throws(MediaError) in
            try SlateTrack(traks[index], movie.tracks[index], of: movie, fileSize: fileSize)
        }
        syncSamples = try Self.check(pictures)
        (self.video, self.audio) = (pictures, audio)
        audioTrackUse =
            audio != nil ? .copied : choice.unusable.isEmpty ? .absent : .unusable(sampleEntries: choice.unusable)
        let chosen = [choice.video] + (audio == nil ? [] : [choice.audio].compactMap(\.self))
        initialization = try SlateInitWriter.write(
            moov, boxes, traks: chosen.map { (movie.tracks[$0].trackID, traks[$0]) })
    }

    /// - Returns: the places of sync samples.
    private static func check(_ pictures: SlateTrack) throws(MediaError) -> [Int] {
        let syncSamples = pictures.samples.indices.filter { pictures.samples[$0].isSync }
        guard let first = syncSamples.first else { throw .slate(.noSyncSample) }
        let steps = pictures.samples.indices.dropFirst(first).map {
            pictures.decodeTime($0 + 1) - pictures.decodeTime($0)
        }
        if let longest = steps.max(), longest > VideoTimestampUnwrapper.longestFrame {
            throw .slate(.frameRateTooLow(longest: longest))
        }
        let duration = pictures.decodeTime(pictures.samples.count) - pictures.decodeTime(first)
        guard duration >= shortest else { throw .slate(.tooShort(duration)) }
        return syncSamples
    }

    /// The whole of it, once, in pieces of about the same length.
    ///
    /// Pictures in front of the first sync sample are in none, nor is sound that ends before the first picture or begins
    /// behind the last.
    /// - Parameter longest: no piece lasts longer if a sync sample permits it; above 0.
    package func segments(longest: Ticks) throws(MediaError) -> [SlateSegment] {
        let borders = segmentBoundaries(longest: max(longest, Ticks(1)))
        var heard = firstAudioSample(overlapping: borders[0])
        var pieces: [SlateSegment] = []
        for (start, end) in zip(borders, borders.dropFirst()) {
            let isLast = end == video.samples.count
            let limit = isLast ? video.presentationEnd : video.presentationTime(end)
            let next = max(heard, audio?.firstIndex(presentedFrom: limit) ?? 0)
            pieces.append(try SlateSegment(video: start..<end, of: video, audio: heard..<next, of: audio))
            heard = next
        }
        return pieces
    }

    /// The first sample of sound that has not ended when a picture is shown.
    private func firstAudioSample(overlapping picture: Int) -> Int {
        guard let audio else { return 0 }
        let start = video.presentationTime(picture)
        let next = audio.firstIndex(presentedFrom: start)
        let lastsOn = next > 0 && audio.presentationTime(next) > start && audio.presentationTime(next - 1) < start
        return lastsOn ? next - 1 : next
    }

    /// Where pieces begin, and behind them the end of the pictures.
    private func segmentBoundaries(longest: Ticks) -> [Int] {
        let end = video.samples.count
        var borders = Array(syncSamples.prefix(1))
        let total = video.decodeTime(end) - video.decodeTime(borders[0])
        let count = (total.count + longest.count - 1) / longest.count
        let goal = Ticks(total.count / max(count, 1))
        for (place, sync) in syncSamples.enumerated().dropFirst() {
            let start = video.decodeTime(borders[borders.count - 1])
            if video.decodeTime(end) - start <= longest { break }
            let next = place + 1 < syncSamples.count ? syncSamples[place + 1] : end
            let (now, later) = (video.decodeTime(sync) - start, video.decodeTime(next) - start)
            if later > longest || (later - goal).count >= (goal - now).count { borders.append(sync) }
        }
        return borders + [end]
    }

    /// A piece as one segment: a movie fragment with a run of samples for each track, and its media data.
    /// - Parameter bytes: of the piece's ranges, one behind the other.
    /// - Throws: when they are not as many.
    package func mediaSegment(_ piece: SlateSegment, bytes: [UInt8]) throws(MediaError) -> [UInt8] {
        guard let bytes = SlateBytes(bytes, of: piece.ranges) else { throw .slate(.samplesPastEnd) }
        let fragment = FragmentWriter.write(
            sequenceNumber: UInt32(truncatingIfNeeded: piece.video.lowerBound + 1),
            video: try Self.track(piece.video, of: video, bytes),
            audio: try audio.flatMap { (audio) throws(MediaError) in
                try Self.track(piece.audio, of: audio, bytes)
            })
        var segment = fragment.header
        segment.reserveCapacity(fragment.byteCount)
        for payload in fragment.payloads { segment += payload }
        return segment
    }

    /// - Returns: nil for no samples at all.
    private static func track(
        _ places: Range<Int>, of track: SlateTrack, _ bytes: SlateBytes
    ) throws(MediaError) -> MuxTrack? {
        let samples = track.samples[places.clamped(to: track.samples.indices)]
        guard let first = samples.first else { return nil }
        var written: [MuxSample] = []
        written.reserveCapacity(samples.count)
        for sample in samples {
            guard let payload = bytes.payload(of: sample) else { throw .slate(.samplesPastEnd) }
            written.append(
                MuxSample(
                    duration: sample.duration, compositionOffset: sample.compositionOffset, isSync: sample.isSync,
                    payload: payload))
        }
        return MuxTrack(trackID: track.trackID, decodeTime: first.decodeTime, samples: written)
    }
}
