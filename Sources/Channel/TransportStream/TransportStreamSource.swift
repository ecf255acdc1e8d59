import LiveRing
import Media
import Mux
import Playlist

/// Writes the transport stream of a segment from the files of a ring.
struct TransportStreamSource: Sendable {
    struct Written: Equatable, Sendable {
        let segment: TransportSegment
        let replacements: TransportMediaBuilder.Replacements
    }

    private let snapshot: RingSnapshot

    init(_ snapshot: RingSnapshot) { self.snapshot = snapshot }

    func write(_ entry: RingEntry) throws(TransportStreamError) -> Written {
        guard let state = entry.transportStream.flatMap({ TransportStreamState($0) }) else { throw .noMedia }
        let stored = try media(of: entry)
        let needsStill = state.program.video != nil && stored.video?.configuration.codec != state.program.video
        let still = needsStill ? self.still(before: entry, state.program) : nil
        var builder = TransportMediaBuilder()
        let delay = Ticks(entry.resumePoint.compositionOffset)
        let built = builder.media(
            of: stored, state, compositionDelay: delay, still: still, previousAudio: { audio(before: entry) })
        guard let built else { throw .noMedia }
        var media = built.media
        let sections = SpliceSections(
            date: entry.programDateTime, start: media.presentationStart, duration: Ticks(entry.duration))
        media.spliceSections = sections.sections(of: entry.adMarkers)
        let muxer = TransportStreamMuxer(state.program, audioChanges: state.audioChanges)
        return Written(segment: muxer.segment(media), replacements: built.replacements)
    }

    private func media(of entry: RingEntry) throws(TransportStreamError) -> StoredMedia {
        let files: [[UInt8]]
        do throws(RingError) {
            files = [try snapshot.bytes(of: entry.initialization), try snapshot.bytes(of: entry.segment)]
        } catch { throw .spool(error) }
        do throws(MediaError) {
            return try StoredMedia(initialization: files[0], segment: files[1])
        } catch { throw .unreadable(error) }
    }

    /// The audio of the segment before `entry`; nil if that segment is a gap or was evicted.
    private func audio(before entry: RingEntry) -> TransportMedia.Audio? {
        guard entry.mediaSequence > 0, let previous = snapshot.index.entry(numbered: entry.mediaSequence - 1),
            !previous.isGap
        else { return nil }
        return try? media(of: previous).audio
    }

    /// The latest random access point before `entry` in the program's codec; nil if no segment with one is left.
    private func still(before entry: RingEntry, _ program: TransportProgram) -> TransportMediaBuilder.Still? {
        var number = entry.mediaSequence
        while number > 0, let earlier = snapshot.index.entry(numbered: number - 1) {
            number -= 1
            let codec = earlier.format.videoCodec.flatMap { VideoConfiguration.Codec(codecString: $0) }
            guard !earlier.isGap, codec == program.video else { continue }
            if let still = try? media(of: earlier).still { return still }
        }
        return nil
    }
}
