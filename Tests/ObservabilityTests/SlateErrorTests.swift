import Channel
import Export
import Fetch
import Testing

@testable import Media
@testable import Support

@Suite struct SlateErrorTests {
    private func line(_ reason: SlateError.Reason) -> String {
        let error = RelayError(SlateError(reason, path: "/nowhere/slate.mp4"))
        #expect(error.exit == .badSlate)
        return error.line
    }

    @Test func slateErrorNamesFileAndReason() {
        #expect(line(.file(.system(2))).contains("/nowhere/slate.mp4 cannot be read: No such file or directory"))
        #expect(line(.file(.notAFile)).contains("/nowhere/slate.mp4 is no file"))
        #expect(line(.file(.changed)).contains("Replace a slate by renaming"))
    }

    @Test(arguments: [(MovieFault.notMP4, "no MP4"), (.noMovie, "moov"), (.noSyncSample, "sync sample")])
    func unusableMovieErrorSaysHowToMakeOne(_ fault: MovieFault, _ text: String) {
        let line = line(.media(MediaError(.unusableMovie(fault), section: "")))
        #expect(line.contains(text) && line.contains("ffmpeg -i"), "\(line)")
    }
}
