package import LiveRing
package import Media
import Mux
import Playlist
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

    /// The bytes depend on `entry` and on its files alone.
    func write(_ entry: RingEntry) throws(TransportStreamError) -> Written {
        var (file, output) = (memory.removeBuffer(for: .file), memory.removeBuffer(for: .output))
        defer { memory.store(file, for: .file) }
        return try write(entry, file: &file, output: &output)
    }

    private func write(
        _ entry: RingEntry, file: inout [UInt8], output: inout [UInt8]
    ) throws(TransportStreamError) -> Written {
        guard let point = entry.transportStream, let state = TransportStreamState(point) else { throw .noMedia }
        var media = try snapshot.media(
            in: entry.segment, audio: entry.audioConfiguration, lasting: Ticks(entry.duration), &file)
        let still = try point.still.map { (still) throws(TransportStreamError) in try snapshot.media(in: still) }
        let replacements = media.replaceForeignMedia(
            state, videoCodec: entry.videoCodec, compositionDelay: Ticks(entry.resumePoint.compositionOffset),
            still: still?.video.last(where: \.isRandomAccessPoint))
        let sections = SpliceSections(
            date: entry.programDateTime, start: media.presentationStart, duration: Ticks(entry.duration))
        media.spliceSections = sections.sections(of: entry.adMarkers)
        let muxer = TransportStreamMuxer(state.program, audioChanges: state.audioChanges)
        return Written(segment: muxer.segment(media, in: &output), replacements: replacements)
    }
}

extension RingSnapshot {
    /// The media of a file with published samples.
    func media(in file: SpoolFile) throws(TransportStreamError) -> TransportMedia {
        var buffer: [UInt8] = []
        return try media(in: file, audio: nil, lasting: .zero, &buffer)
    }

    /// - Parameter buffer: memory for the file, which the samples refer to.
    func media(
        in file: SpoolFile, audio: AudioConfiguration?, lasting duration: Ticks, _ buffer: inout [UInt8]
    ) throws(TransportStreamError) -> TransportMedia {
        let size: Int
        do throws(RingError) { size = try read(file, into: &buffer) } catch { throw .spool(error) }
        do throws(MediaError) {
            return try TransportMedia(fragment: buffer[..<size], audio: audio, lasting: duration)
        } catch { throw .unreadable(error) }
    }
}

extension RingEntry {
    /// The codec of its video; nil if it has none.
    var videoCodec: VideoConfiguration.Codec? {
        format.videoCodec.flatMap { VideoConfiguration.Codec(codecString: $0) }
    }

    /// The configuration of its audio; nil if it has none.
    var audioConfiguration: AudioConfiguration? {
        format.audioCodec == nil ? nil : resumePoint.audioConfiguration.flatMap { AudioConfiguration(text: $0) }
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
