import Media
import Splice

/// Why a slate cannot be shown.
enum SlateError: Equatable, Sendable {
    /// errno of the call that failed.
    case system(Int32)
    /// A directory, a pipe or a device.
    case notAFile
    /// It was written over or cut short while it was read.
    case changed
    case media(MediaError)
}

extension RelayError {
    init(slate path: String, _ trouble: SlateError) {
        let recipe = "Make one with: ffmpeg -i … -r 25 -c:v libx264 -g 50 -pix_fmt yuv420p -c:a aac slate.mp4"
        switch trouble {
        case .system(let code):
            self.init(.badSlate, "The slate \(path) cannot be read (errno \(code))", advice: "Check --slate")
        case .notAFile:
            self.init(.badSlate, "The slate \(path) is no file", advice: "Give an MP4 file as --slate")
        case .changed:
            self.init(
                .badSlate, "The slate \(path) was written over while it was read",
                advice: "Replace a slate by renaming another file over it")
        case .media(let error):
            self.init(.badSlate, "The slate \(path) cannot be shown: \(error.words)", advice: recipe)
        }
    }
}
