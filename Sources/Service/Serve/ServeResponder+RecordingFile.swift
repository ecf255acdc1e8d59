import Export
import Fleet
import Foundation
import HTTP
import Record
import Support

extension ServeResponder {
    /// A finished recording as a file that browsers store.
    func recordingFile(at path: String, for target: RequestTarget) -> Answer {
        if let found = RecordingFileAddress(path: path), let node = found.node {
            // It may be too large to be passed on.
            let peer = host.fleet?.peers.first { $0.name == node }
            let here = target.at(RecordingFileAddress.path(of: found.id, found.suffix)).encoded
            guard let peer else { return .now(.notFound(path)) }
            return .now(.redirect(.temporaryRedirect, to: peer.address + here, query: nil))
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
