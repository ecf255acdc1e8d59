import Dispatch
import Foundation
import Logging
import Testing
import WebTestSupport

@testable import Observability
@testable import liverelay

@Suite struct LogRateTests {
    /// A segment with a fault in each frame: 4,000 lines of 200 bytes in a second.
    @Test func linesBeyondTheRateAreCounted() {
        let rate = LogRate()
        var written = 0
        var suppressed = 0
        for second in 0..<20 {
            for _ in 0..<4000 {
                guard let before = rate.admit(200, of: "", at: .seconds(second)) else { continue }
                written += 200
                suppressed += before
            }
        }
        #expect(written <= LogRate.burst + 20 * LogRate.bytesPerSecond)
        let rest = rate.admit(200, of: "", at: .seconds(100)) ?? 0
        #expect(suppressed + rest + written / 200 == 80_000)
    }

    @Test func channelsHaveTheirOwnLimits() {
        let rate = LogRate()
        while rate.admit(100, of: "hostile", at: .zero) != nil {}
        #expect(rate.admit(100, of: "good", at: .zero) == 0)
    }

    @Test func manyChannelsAreBounded() {
        let rate = LogRate()
        for channel in 0..<10_000 { _ = rate.admit(100, of: "\(channel)", at: .zero) }
        #expect(rate.admit(100, of: "9999", at: .zero) == nil, "shared with the others")
        #expect(rate.admit(100, of: "0", at: .zero) == 0)
    }

    @Test func clockThatGoesBackRefillsNothing() {
        let rate = LogRate()
        while rate.admit(1000, of: "", at: .seconds(50)) != nil {}
        #expect(rate.admit(1000, of: "", at: .seconds(10)) == nil)
        #expect(rate.admit(1000, of: "", at: .seconds(11)) != nil)
    }

    @Test func longMessagesAreCutAndSuppressedLinesAreNamed() throws {
        let pipe = Pipe()
        let console = Console(pipe.fileHandleForWriting.fileDescriptor, isTerminal: false)
        let logger = Logger(label: "test") { _ in ConsoleLogHandler(console: console, rate: LogRate()) }
        logger.warning("\(String(repeating: "x", count: 5000))")
        for number in 0..<400 { logger.warning("\(number) \(String(repeating: "x", count: 1000))") }
        #expect(console.dropped > 0)
        Thread.detachNewThread {
            console.close(within: .seconds(10))
            try? pipe.fileHandleForWriting.close()
        }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.utf8.count < ConsoleLogHandler.longestMessage + 100 })
        #expect(text.utf8.count <= LogRate.burst + LogRate.bytesPerSecond * 10)
    }
}

@Suite struct ShutdownDeadlineTests {
    @Test func endsWhateverComputes() {
        let ended = DispatchSemaphore(value: 0)
        ShutdownDeadline.start(after: .milliseconds(20)) { ended.signal() }
        #expect(ended.wait(timeout: .now() + 10) == .success)
        #expect(ShutdownDeadline.limit < .seconds(2))
    }
}
