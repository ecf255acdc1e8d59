package import LiveRing
package import Media
import Mux
import Playlist
import Support
import Synchronization

/// The reason why a segment cannot be had as a transport stream.
package enum TransportStreamError: Error, Equatable, Sendable {
    /// The segment's files cannot be read.
    case spool(RingError)
    /// The files do not hold what was published.
    case unreadable(MediaError)
    /// The segment has no sample, or an earlier version published it.
    case noMedia
    /// Clients hold as many other segments as may be, or wait for them.
    case busy
}

/// Writes the transport stream of a segment from the files of a ring and from its record in the journal.
struct TransportStreamSource: Sendable {
    struct Written: Equatable, Sendable {
        let segment: TransportSegment
        let replacements: TransportMedia.Replacements
    }

    private let snapshot: RingSnapshot
    private let memory: SegmentMemory

    init(_ snapshot: RingSnapshot, memory: SegmentMemory = SegmentMemory(byteLimit: 0)) {
        self.snapshot = snapshot
        self.memory = memory
    }

    /// The bytes depend on `entry`, on its files and on `earlyAudio` alone.
    func write(_ entry: RingEntry, earlyAudio: EarlyAudio = .kept) throws(TransportStreamError) -> Written {
        var output = memory.removeBuffer(for: .output)
        if let chunks = snapshot.chunks(of: entry.segment), let header = chunks.first {
            return try write(entry, earlyAudio, output: &output) { (audio, duration) throws(MediaError) in
                try TransportMedia(
                    header: Array(header), payloads: Array(chunks.dropFirst()), audio: audio, lasting: duration)
            }
        }
        var file = memory.removeBuffer(for: .file)
        defer { memory.store(file, for: .file) }
        let size: Int
        do throws(RingError) { size = try snapshot.read(entry.segment, into: &file) } catch { throw .spool(error) }
        return try write(entry, file: file[..<size], earlyAudio, output: &output)
    }

    /// - Parameter file: the segment of `entry`, if it is not in the ring.
    func write(_ entry: RingEntry, file: [UInt8]) throws(TransportStreamError) -> Written {
        var output = memory.removeBuffer(for: .output)
        return try write(entry, file: file[...], .kept, output: &output)
    }

    private func write(
        _ entry: RingEntry, file: ArraySlice<UInt8>, _ earlyAudio: EarlyAudio, output: inout [UInt8]
    ) throws(TransportStreamError) -> Written {
        try write(entry, earlyAudio, output: &output) { (audio, duration) throws(MediaError) in
            try TransportMedia(fragment: file, audio: audio, lasting: duration)
        }
    }

    private func write(
        _ entry: RingEntry, _ earlyAudio: EarlyAudio, output: inout [UInt8],
        samples: (AudioConfiguration?, Ticks) throws(MediaError) -> TransportMedia
    ) throws(TransportStreamError) -> Written {
        guard let state = entry.transportStream.flatMap({ TransportStreamState($0) }) else { throw .noMedia }
        let content = try entry.transportContent(state, audio: entry.audioConfiguration) {
            (sidecar) throws(TransportStreamError) in
            do throws(RingError) { return try snapshot.bytes(of: sidecar) } catch { throw .spool(error) }
        } audioTracks: { (index) throws(TransportStreamError) in
            guard index < entry.audioFiles.count, let file = entry.audioFiles[index], !file.isGap else { return nil }
            do throws(RingError) { return try snapshot.bytes(of: file.segment) } catch { throw .spool(error) }
        } samples: { (audio, duration) throws(MediaError) in
            try samples(audio, duration)
        }
        guard let media = content.media.with(earlyAudio) else { throw .noMedia }
        return Written(
            segment: TransportStreamMuxer(state).segment(media, in: &output), replacements: content.replacements)
    }

    /// The times from the first chunk of a published segment to the end of its last; nil if it cannot be read.
    func times(of entry: RingEntry) -> Range<Ticks>? {
        guard let segment = try? write(entry).segment, let first = segment.chunks.first, let last = segment.chunks.last
        else { return nil }
        return first.start..<last.start + last.duration
    }
}

/// The record of a segment, on which its transport stream depends beside its files.
protocol TransportStreamRecord {
    var duration: Int64 { get }
    var programDateTime: ProgramDateTime { get }
    var resumePoint: ResumePoint { get }
    var format: SegmentFormat { get }
    var adMarkers: SegmentAdMarkers { get }
    var transportStream: TransportStreamPoint? { get }
}

extension RingEntry: TransportStreamRecord {}
extension NewSegment: TransportStreamRecord {}

/// The media of a segment's transport stream.
struct TransportContent {
    let media: TransportMedia
    let replacements: TransportMedia.Replacements
}

extension TransportStreamRecord {
    /// - Parameters:
    ///   - state: that of `transportStream`.
    ///   - audio: the configuration of its audio; nil if it has none.
    ///   - sidecars: returns the bytes of a file beside the segment.
    ///   - audioTracks: returns the bytes of an audio track of the resume point; nil if the segment has none.
    ///   - samples: returns the samples of the segment, by its audio and its duration.
    func transportContent(
        _ state: TransportStreamState, audio: AudioConfiguration?,
        sidecars: (SpoolFile) throws(TransportStreamError) -> [UInt8],
        audioTracks: (Int) throws(TransportStreamError) -> [UInt8]?,
        samples: (AudioConfiguration?, Ticks) throws(MediaError) -> TransportMedia
    ) throws(TransportStreamError) -> TransportContent {
        guard let point = transportStream else { throw .noMedia }
        let still = try point.still.map(sidecars)
        let privateData = try point.privateData.map(sidecars)
        var files: [AudioTrackIdentity: (bytes: [UInt8], configuration: AudioConfiguration)] = [:]
        for (index, track) in resumePoint.audioTracks.enumerated() {
            guard let identity = AudioTrackIdentity(text: track.identity), let bytes = try audioTracks(index),
                let configuration = AudioConfiguration(text: track.configuration)
            else { continue }
            files[identity] = (bytes, configuration)
        }
        do throws(MediaError) {
            var media = try samples(audio, Ticks(duration))
            if let privateData {
                media.privateData = try PrivateDataFile.read(privateData, of: state.privateDataStreams)
            }
            for track in state.audioTracks {
                let stored = files[track.identity]
                let file = stored.flatMap { TransportAudioCodec($0.configuration) == track.codec ? $0 : nil }
                let frames = try file.map { (file) throws(MediaError) in
                    try TransportMedia(fragment: file.bytes[...], audio: file.configuration, lasting: .zero).audio
                }
                media.furtherAudio.append(
                    TransportMedia.FurtherAudio(
                        frames: frames ?? [], configuration: file?.configuration ?? track.configuration))
            }
            let still = try still.map { (bytes) throws(MediaError) in
                try TransportMedia(fragment: bytes[...], audio: nil, lasting: .zero)
            }
            let replacements = media.replaceForeignMedia(
                state, videoCodec: videoCodec, compositionDelay: Ticks(resumePoint.compositionOffset),
                still: still?.video.last(where: \.isRandomAccessPoint))
            let sections = SpliceSections(date: programDateTime, start: media.presentationStart)
            media.spliceSections = sections.sections(of: adMarkers)
            return TransportContent(media: media, replacements: replacements)
        } catch { throw .unreadable(error) }
    }

    /// The codec of its video; nil if it has none.
    var videoCodec: VideoConfiguration.Codec? {
        format.videoCodec.flatMap { VideoConfiguration.Codec(codecString: $0) }
    }

    /// The configuration of its audio; nil if it has none.
    var audioConfiguration: AudioConfiguration? {
        format.audioCodec == nil ? nil : resumePoint.audioConfiguration.flatMap { AudioConfiguration(text: $0) }
    }
}

extension TransportMedia {
    /// nil if only early audio is wanted, and there is none.
    fileprivate func with(_ earlyAudio: EarlyAudio) -> TransportMedia? {
        switch earlyAudio {
        case .kept: self
        case .removed: withoutEarlyAudio
        case .alone: self.earlyAudio
        }
    }
}

/// The memory of files that were read and of transport streams that are no longer kept, for the next ones. The system
/// would otherwise give each segment new pages, which takes longer than to write them.
final class SegmentMemory: Sendable {
    enum Use: Hashable, Sendable { case file, output }

    private let byteLimit: Int
    private let free = Mutex<[Use: [UInt8]]>([:])

    /// - Parameter byteLimit: of one buffer that is kept for each use.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    func removeBuffer(for use: Use) -> [UInt8] { free.withLock { $0.removeValue(forKey: use) } ?? [] }

    /// - Parameter buffer: others may still read it; then its memory is not used.
    func store(_ buffer: [UInt8], for use: Use) {
        guard buffer.capacity <= byteLimit else { return }
        free.withLock { $0[use] = buffer }
    }
}
