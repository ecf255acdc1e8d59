package import LiveRing
package import Media
import Mux
import Playlist
import Splice
import Synchronization
package import Transcode

/// The slate in the place of ad breaks: segments with the times of published ones and the frames of the slate.
///
/// A segment is made when somebody asks for it, and depends on the published one and the slate alone. It begins with a sync
/// sample, as near to the place as the slate has one if it was presented over and over since the channel began.
package final class BreakSlate: Sendable {
    /// The samples of one track, in decoding order.
    fileprivate struct Track: Sendable {
        private(set) var samples: [MuxSample] = []
        /// The time of each sample since the first.
        private(set) var times: [Int64] = []
        private(set) var duration: Int64 = 0

        mutating func append(_ track: FragmentTrack, of fragment: [UInt8]) {
            for sample in track.samples {
                samples.append(
                    MuxSample(
                        duration: sample.duration, compositionOffset: sample.compositionOffset,
                        isSync: sample.isRandomAccessPoint, payload: fragment[sample.bytes]))
                times.append(duration)
                duration += Int64(sample.duration)
            }
        }
    }

    fileprivate struct Media: Sendable {
        let files: SlateFiles
        let initialization: [UInt8]
        let video: Track
        let audio: Track
    }

    /// The bytes of the slate that are kept, of a random access point at least. The rest is not presented in breaks.
    static let byteLimit = 4 << 20

    private let source: SlateSource
    private let audio: AudioSettings
    private let longestSegment: Ticks
    private let now: @Sendable () -> Duration
    private let report: @Sendable (BreakSlateChange) -> Void
    private let reading = Mutex(SlateReading<Media, CheckedContinuation<SlateFiles?, Never>>())

    /// - Parameters:
    ///   - now: returns the time since the channel began.
    ///   - report: called on any thread, once for each change.
    package init(
        _ source: SlateSource, longestSegment: Ticks, audio: AudioSettings, now: @escaping @Sendable () -> Duration,
        report: @escaping @Sendable (BreakSlateChange) -> Void = { _ in }
    ) {
        (self.source, self.longestSegment, self.audio) = (source, longestSegment, audio)
        (self.now, self.report) = (now, report)
    }

    private var media: Media? {
        reading.withLock { if case .read(let media) = $0.state { media } else { nil } }
    }

    /// nil before `load`.
    package var files: SlateFiles? { media?.files }

    /// Reads the slate, unless somebody else does or has.
    /// - Parameter entry: whose audio a slate without audio continues.
    /// - Returns: nil if it cannot be read.
    package func load(after entry: RingEntry) async -> SlateFiles? {
        await withCheckedContinuation { continuation in
            switch reading.withLock({ $0.request(continuation, at: now()) }) {
            case .use(let media): continuation.resume(returning: media.files)
            case .refuse: continuation.resume(returning: nil)
            case .wait: break
            case .read:
                Task {
                    await MediaPool.segments.perform {
                        self.finish(Result { () throws(SlateError) in try self.read(after: entry) })
                    }
                }
            }
        }
    }

    private func finish(_ result: Result<Media, SlateError>) {
        let (waiters, change) = reading.withLock { $0.finish(result, at: now()) }
        if let change { report(change) }
        let files = try? result.get().files
        for waiter in waiters { waiter.resume(returning: files) }
    }

    private func read(after entry: RingEntry) throws(SlateError) -> Media {
        let source = try source.reloaded() ?? source
        var engine = SpliceEngine(
            SpliceConfiguration(
                hasAudioRendition: false, audio: audio.policy, fillsSilence: audio.fillsSilence,
                longestSegment: longestSegment, position: TimelinePosition(entry.resumePoint), wallClock: 0))
        if let state = entry.transportStream.flatMap({ TransportStreamState($0) }) {
            engine.setChannelAAC(state.program.audio == .aac)
        }
        var (segments, byteCount): ([SplicedSegment], Int) = ([], 0)
        for (index, chunk) in try source.chunks(longest: longestSegment).enumerated() {
            byteCount += chunk.byteCount
            guard index == 0 || byteCount <= Self.byteLimit else { break }
            let input = try source.segment(
                chunk, number: UInt64(index), iteration: 0, isFirstOfIteration: index == 0)
            segments += try source.splice(.segment(input), in: &engine)
        }
        segments += try source.splice(.ended(.main), in: &engine)
        var (video, audio) = (Track(), Track())
        for segment in segments where segment.initSection == segments[0].initSection {
            let bytes = segment.fragment.header + segment.fragment.payloads.joined()
            do throws(MediaError) {
                let tracks = try FragmentTrack.tracks(of: BoxReader.wholeBoxes(in: bytes[...]).boxes.require("moof"))
                if let track = tracks[TrackID.video] { video.append(track, of: bytes) }
                if let track = tracks[TrackID.audio] { audio.append(track, of: bytes) }
            } catch { throw SlateError(.media(error), path: source.path) }
        }
        guard let first = segments.first, video.samples.first?.isSync == true, video.duration > 0 else {
            throw source.noVideo
        }
        let description = first.description
        let sizes = (video.samples + audio.samples).map { "\($0.payload.count)" }.joined(separator: ",")
        let files = SlateFiles(
            initialization: InitializationFile(name: first.initSection.name, bytes: first.initSection.bytes),
            format: SegmentFormat(description),
            audioConfiguration: audio.samples.isEmpty ? nil : first.position.audio?.text, frames: sizes.utf8)
        return Media(files: files, initialization: first.initSection.bytes, video: video, audio: audio)
    }

    /// The init section called `name`; nil if it is not that of the slate.
    package func initialization(named name: String) -> [UInt8]? {
        media.flatMap { $0.files.initialization.name == name ? $0.initialization : nil }
    }

    /// The published entry in whose place a segment called `name` is; nil if there is none.
    package func entry(replacedBy name: String, in index: RingIndex) -> RingEntry? {
        guard let number = SpoolName.mediaSequence(ofSegment: name), let entry = index.entry(numbered: number),
            !entry.isGap, let files, files.replacement(of: entry).segment.name == name
        else { return nil }
        return entry
    }

    /// The record of the transport stream in the place of a published one; nil before `load`.
    func record(for entry: RingEntry) -> RingEntry? {
        guard let files else { return nil }
        var record = files.replacement(of: entry)
        guard let point = entry.transportStream, let state = TransportStreamState(point) else { return record }
        let next = state.followed(by: record.audioConfiguration, initialization: files.initialization.name)
        record.transportStream?.parameters = next.text
        record.transportStream?.privateData = nil
        return record
    }

    /// The segment in the place of a published one, as a file; nil before `load`.
    package func segment(for entry: RingEntry) -> [UInt8]? {
        guard let media else { return nil }
        let times = max(.zero, entry.presented.lowerBound)..<entry.presented.upperBound
        let (video, start) = media.videoTrack(at: times)
        let fragment = FragmentWriter.write(
            sequenceNumber: UInt32(truncatingIfNeeded: entry.resumePoint.fragmentSequenceNumber &- 1), video: video,
            audio: media.audioTrack(at: times, from: start))
        return fragment.header + fragment.payloads.joined()
    }
}

extension BreakSlate.Media {
    /// The frames for a part of the timeline, and their place in the slate.
    fileprivate func videoTrack(at times: Range<Ticks>) -> (track: MuxTrack, start: Int64) {
        let place = times.lowerBound.count % video.duration
        let first = video.times.indices.last { video.times[$0] <= place && video.samples[$0].isSync } ?? 0
        var (rest, index): (Int64, Int) = ((times.upperBound - times.lowerBound).count, first)
        var samples: [MuxSample] = []
        while rest > 0 {
            var sample = video.samples[index]
            sample.duration = UInt32(min(rest, max(1, Int64(sample.duration))))
            rest -= Int64(sample.duration)
            samples.append(sample)
            index = (index + 1) % video.samples.count
        }
        Self.holdLastFrame(&samples)
        let decodeTime = max(0, times.lowerBound.count - Int64(samples.first?.compositionOffset ?? 0))
        return (
            MuxTrack(trackID: TrackID.video, decodeTime: UInt64(decodeTime), samples: samples), video.times[first]
        )
    }

    /// Drops frames at the end that are presented after others that are missing, and holds the frame before them.
    private static func holdLastFrame(_ samples: inout [MuxSample]) {
        guard let delay = samples.first?.compositionOffset else { return }
        var time = Int64(0)
        var (latest, kept) = (Int64(0), 1)
        for (index, sample) in samples.enumerated() {
            latest = max(latest, time + Int64(sample.compositionOffset - delay))
            // Decoding and presentation order agree if nothing so far is presented after the frame that is decoded last.
            if latest <= time { kept = index + 1 }
            time += Int64(sample.duration)
        }
        let held = samples[kept...].reduce(UInt32(0)) { $0 + $1.duration }
        samples.removeSubrange(kept...)
        samples[kept - 1].duration += held
    }

    /// The audio frames for a part of the timeline, on one grid for all segments; nil if the slate has no audio.
    fileprivate func audioTrack(at times: Range<Ticks>, from start: Int64) -> MuxTrack? {
        guard let length = audio.samples.first.map({ Int64($0.duration) }), length > 0 else { return nil }
        func audioTime(_ ticks: Int64) -> Int64 { ticks.rescaled(TrackTimescale.audio, over: TrackTimescale.video) }
        let first = (audioTime(times.lowerBound.count) + length - 1) / length
        let last = max(first + 1, (audioTime(times.upperBound.count) + length - 1) / length)
        let place = Int(audioTime(start) / length)
        let samples = (0..<Int(last - first)).map { offset in
            var sample = audio.samples[(place + offset) % audio.samples.count]
            sample.duration = UInt32(length)
            return sample
        }
        return MuxTrack(trackID: TrackID.audio, decodeTime: UInt64(first * length), samples: samples)
    }
}

/// Decides when the slate of ad breaks is read: once for all who ask, and again a while after a failure.
struct SlateReading<Media, Waiter> {
    enum State {
        case unread
        /// - Parameter failure: of the reading before this one; nil: there is none.
        case reading(waiters: [Waiter], failure: SlateError?)
        case read(Media)
        case failed(SlateError, at: Duration)
    }

    enum Step {
        /// The slate is to be read; whoever asks waits.
        case read
        case wait
        case use(Media)
        /// Its last reading failed, or too many wait.
        case refuse
    }

    /// After a failure, nobody reads the slate for so long.
    static var retryPause: Duration { .seconds(30) }
    static var mostWaiters: Int { 1000 }

    private(set) var state = State.unread

    /// - Parameter now: time since the channel began.
    mutating func request(_ waiter: Waiter, at now: Duration) -> Step {
        switch state {
        case .read(let media): return .use(media)
        case .failed(_, let time) where now - time < Self.retryPause: return .refuse
        case .failed(let failure, _):
            state = .reading(waiters: [waiter], failure: failure)
            return .read
        case .unread:
            state = .reading(waiters: [waiter], failure: nil)
            return .read
        case .reading(let waiters, _) where waiters.count >= Self.mostWaiters: return .refuse
        case .reading(let waiters, let failure):
            state = .reading(waiters: waiters + [waiter], failure: failure)
            return .wait
        }
    }

    /// Ends a reading.
    /// - Returns: those who waited, and the change that others may want to know of; nil if it is as before.
    mutating func finish(
        _ result: Result<Media, SlateError>, at now: Duration
    ) -> (waiters: [Waiter], change: BreakSlateChange?) {
        guard case .reading(let waiters, let failure) = state else { return ([], nil) }
        switch result {
        case .success(let media):
            state = .read(media)
            return (waiters, failure == nil ? nil : .recovered)
        case .failure(let error):
            state = .failed(error, at: now)
            return (waiters, error == failure ? nil : .failed(error))
        }
    }
}

/// A change of whether the slate of ad breaks can be read.
package enum BreakSlateChange: Equatable, Sendable {
    /// Ad breaks stay as they are until it can be read.
    case failed(SlateError)
    case recovered
}
