import Export
import Fleet
import Foundation
import HTTP
import Record
import Support

/// The path of a finished recording: `/web/recordings/12.mkv`, or `/web/recordings/12@n2.mkv` at the node `n2` of a fleet.
struct RecordingFileAddress {
    private static let folder = "/web/recordings/"
    /// The forms of recordings, the last form first.
    private static let suffixes = ["mkv", "mp4", "ts"]

    /// As in the API.
    let id: String
    let suffix: String
    /// The name of the node that has the file; nil: this one.
    let node: String?

    /// nil for another path.
    init?(path: String) {
        guard path.hasPrefix(Self.folder), let dot = path.lastIndex(of: ".") else { return nil }
        let name = path[..<dot].dropFirst(Self.folder.count).split(separator: "@", maxSplits: 1)
        guard let first = name.first else { return nil }
        (id, node) = (String(first), name.count > 1 ? String(name[1]) : nil)
        suffix = String(path[path.index(after: dot)...])
        guard Self.suffixes.contains(suffix), !id.contains("/") else { return nil }
    }

    static func path(of id: String, _ suffix: String) -> String { "\(folder)\(id).\(suffix)" }

    /// The path of a file of another node; nil for another path.
    static func path(_ path: String, at node: String) -> String? {
        RecordingFileAddress(path: path).map { Self.path(of: "\($0.id)@\(node)", $0.suffix) }
    }

    /// The suffix of the recording among those of its files; nil if it has none.
    static func suffix(in present: [String]) -> String? { suffixes.first(where: present.contains) }
}

extension ServeResponder {
    /// A finished recording as a file that browsers store.
    func recordingFile(at path: String, for target: RequestTarget) -> Answer {
        if let found = RecordingFileAddress(path: path), let node = found.node {
            // It may be too large to be passed on.
            let peer = host.fleet?.peers.first { $0.name == node }
            let here = target.at(RecordingFileAddress.path(of: found.id, found.suffix)).encoded
            return .now(peer.map { .redirect(.temporaryRedirect, to: $0.address + here, query: nil) } ?? .notFound(path))
        }
        guard let address = RecordingFileAddress(path: path), let file = finishedRecording(address.id),
            host.directory.isOpen(file.channel, to: target.viewer), file.suffixes.contains(address.suffix)
        else { return .now(.notFound(target.path)) }
        return .later {
            await MediaPool.recordings.perform {
                let path = "\(file.path).\(address.suffix)"
                let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                guard let byteCount = (attributes?[.size] as? NSNumber)?.intValue else {
                    return Response.notFound(target.path)
                }
                let name = path.split(separator: "/").last.map { PercentEncoding.encode(String($0)) } ?? ""
                return Response(
                    contentType: MimeType(fileName: path), cacheControl: .noStore,
                    body: .file(path: path, byteCount: byteCount),
                    extraHeaders: [
                        HeaderField(name: "Content-Disposition", value: "attachment; filename*=UTF-8''\(name)")
                    ])
            }
        }
    }

    /// The path without a suffix, the suffixes and the channel of a recording that is done.
    private func finishedRecording(_ id: String) -> (path: String, suffixes: [String], channel: String)? {
        if let number = Int(id), let recordings, let found = recordings[number] {
            guard case .done = found.state, let files = found.files else { return nil }
            return (recordings.path(files.base), files.suffixes, found.channel)
        }
        guard let found = host.continuousRecordings[id], case .done = found.state else { return nil }
        return (found.path, found.files.suffixes, found.channel)
    }
}
