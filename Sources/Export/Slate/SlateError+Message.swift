import Glibc
import Media
package import Support

extension RelayError {
    package init(_ error: SlateError) {
        let (fault, advice) =
            switch error.reason {
            case .file(.system(let code)):
                (unsafe "cannot be read: \(String(cString: strerror(code)))", "Check the path and its permissions")
            case .file(.notAFile): ("is no file", "Give an MP4 file as --slate")
            case .file(.changed):
                ("was written over while it was read", "Replace a slate by renaming another file over it")
            case .media(let error):
                (
                    "cannot be shown: \(error.message)",
                    "Make one with: ffmpeg -i … -r 25 -c:v libx264 -g 50 -pix_fmt yuv420p -c:a aac slate.mp4"
                )
            }
        self.init(.badSlate, "The slate \(error.path) \(fault)", advice: advice)
    }
}

extension SlateSource {
    /// Opens the file that `--slate` names.
    /// - Returns: nil if `path` is nil.
    package static func open(_ path: String?) throws(RelayError) -> SlateSource? {
        guard let path else { return nil }
        do throws(SlateError) { return try SlateSource(path) } catch { throw RelayError(error) }
    }
}
