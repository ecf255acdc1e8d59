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

    /// The bytes depend on the files of `entry` alone.
    func write(_ entry: RingEntry) throws(TransportStreamError) -> Written {
        guard let point = entry.transportStream, let state = TransportStreamState(point) else { throw .noMedia }
        let stored = try media(in: entry.segment, initialization: entry.initialization)
        let still = try media(of: .still, in: point)?.still
        let leadIn = try media(of: .leadIn, in: point)?.audio
        var builder = TransportMediaBuilder()
        let delay = Ticks(entry.resumePoint.compositionOffset)
        let built = builder.media(of: stored, state, compositionDelay: delay, still: still, leadIn: leadIn)
        guard let built else { throw .noMedia }
        var media = built.media
        let sections = SpliceSections(
            date: entry.programDateTime, start: media.presentationStart, duration: Ticks(entry.duration))
        media.spliceSections = sections.sections(of: entry.adMarkers)
        let muxer = TransportStreamMuxer(state.program, audioChanges: state.audioChanges)
        return Written(segment: muxer.segment(media), replacements: built.replacements)
    }

    private func media(
        of content: TransportStreamFile.Content, in point: TransportStreamPoint
    ) throws(TransportStreamError) -> StoredMedia? {
        guard let file = point.file(content) else { return nil }
        return try media(in: file)
    }

    /// - Parameter initialization: the file with the init section; nil if `file` begins with it.
    private func media(
        in file: SpoolFile, initialization: SpoolFile? = nil
    ) throws(TransportStreamError) -> StoredMedia {
        let head: [UInt8]
        let body: [UInt8]
        do throws(RingError) {
            body = try snapshot.bytes(of: file)
            if let initialization { head = try snapshot.bytes(of: initialization) } else { head = body }
        } catch { throw .spool(error) }
        do throws(MediaError) {
            return try StoredMedia(initialization: head, segment: body)
        } catch { throw .unreadable(error) }
    }
}
