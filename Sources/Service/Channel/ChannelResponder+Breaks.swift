import Channel
import LiveRing
import Mux
import WebServer

// The files of the slate in the place of ad breaks. They have names as the files of the ring, of which none has theirs.

extension ChannelResponder {
    /// The published segment in whose place the slate's segment called `name` is; nil if there is none.
    func breakEntry(_ name: String) -> RingEntry? {
        guard let snapshot, let slate = state.breakSlate else { return nil }
        return slate.entry(replacedBy: name, in: snapshot.index)
    }

    /// Whether a file of the slate is asked for, which no archive has.
    func isOfSlate(_ resource: Route.Resource) -> Bool {
        switch resource {
        case .segment(let name), .transportSegment(let name), .extract(_, let name), .initSection(let name):
            breakEntry(name) != nil || breakInitialization(name) != nil
        default: false
        }
    }

    /// The slate's segment called `name`; nil if there is none.
    func breakSegment(_ name: String) async -> [UInt8]? {
        guard let entry = breakEntry(name), let slate = state.breakSlate else { return nil }
        return await TransportStreamThreads.perform { slate.segment(for: entry) }
    }

    /// The slate's init section called `name`; nil if there is none, or a published segment has it too.
    func breakInitialization(_ name: String) -> [UInt8]? {
        guard snapshot?.index.initializationFile(named: name) == nil else { return nil }
        return state.breakSlate?.initialization(named: name)
    }

    /// One track of a file of the slate; nil if there is none.
    func breakExtract(_ track: SpoolName.Track, of name: String) async -> Response? {
        let extracted: [UInt8]?
        if let section = breakInitialization(name) {
            extracted = try? TrackExtract.initSection(of: .init(track), in: section)
        } else if let bytes = await breakSegment(name) {
            let found =
                try? track == .iframe
                ? TrackExtract.firstFrame(inFileThatBegins: bytes, byteCount: bytes.count)
                : TrackExtract.segment(of: .init(track), inFileThatBegins: bytes, byteCount: bytes.count)
            extracted = found.map { $0.header + bytes[$0.payload] }
        } else {
            extracted = nil
        }
        return extracted.map { Self.madeFile($0, named: SpoolName.extract(track, of: name)) }
    }

    static func madeFile(_ bytes: [UInt8], named name: String) -> Response {
        let isAudio = SpoolName.extract(named: name)?.track == .audio
        return Response(
            contentType: isAudio ? .audioMP4 : MimeType(fileName: name), cacheControl: .immutable,
            etag: "\"\(name)\"", body: .bytes(bytes, gzip: nil))
    }
}
