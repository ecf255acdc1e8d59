import Export
import Foundation
import HTTP
import Record
import Support

/// The path of a finished recording: `/web/recordings/12.mkv`.
struct RecordingFileAddress {
    private static let folder = "/web/recordings/"
    /// The forms of recordings, the last form first.
    private static let suffixes = ["mkv", "mp4", "ts"]

    /// As in the API.
    let id: String
    let suffix: String

    /// nil for another path.
    init?(path: String) {
        guard path.hasPrefix(Self.folder), let dot = path.lastIndex(of: ".") else { return nil }
        id = String(path[..<dot].dropFirst(Self.folder.count))
        suffix = String(path[path.index(after: dot)...])
        guard Self.suffixes.contains(suffix), !id.contains("/") else { return nil }
    }

    static func path(of id: String, _ suffix: String) -> String { "\(folder)\(id).\(suffix)" }

    /// The suffix of the recording among those of its files; nil if it has none.
    static func suffix(in present: [String]) -> String? { suffixes.first(where: present.contains) }
}

extension ServeResponder {
    /// A finished recording as a file that browsers store.
    func recordingFile(at path: String, for target: RequestTarget) -> Answer {
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
