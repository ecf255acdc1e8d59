import Support
import Testing

@testable import Service

private let failure = RelayError(.upstreamUnavailable, "nothing answers", advice: "wait")

private let rows:
    [(
        when: String, endsWithUpstream: Bool, hasStream: Bool, inputs: [ServiceEnd.Input],
        status: Support.ExitStatus?
    )] = [
        ("a signal", false, false, [.published, .signal], .success),
        ("the upstream has ended, and the process serves on", false, false, [.channel(.drained, isOver: true)], nil),
        ("the upstream has ended, and with it the process", true, false, [.channel(.drained, isOver: true)], .success),
        ("the channel fails", false, false, [.channel(.failed(failure), isOver: false)], .upstreamUnavailable),
        ("the channel is canceled", true, false, [.channel(.canceled, isOver: false)], nil),
        ("a stream is written first", true, true, [.channel(.drained, isOver: true)], nil),
        ("and then", true, true, [.channel(.drained, isOver: true), .stream(.written)], .success),
        (
            "without an end of the upstream", false, true, [.channel(.drained, isOver: true), .stream(.written)],
            .success
        ),
        ("the stream is written first", false, true, [.stream(.written), .channel(.drained, isOver: true)], .success),
        ("the stream alone ends nothing", true, true, [.stream(.written)], nil),
        (
            "a failure after all was written", false, true,
            [.channel(.failed(failure), isOver: true), .stream(.written)],
            .upstreamUnavailable
        ),
        (
            "a failure before anything was published", false, true, [.channel(.failed(failure), isOver: false)],
            .upstreamUnavailable
        ),
        ("the reader leaves", false, true, [.stream(.readerClosed)], .success),
        (
            "the disk is full", false, true, [.stream(.failed(RelayError(.cannotWrite, "full", advice: "free space")))],
            .cannotWrite
        ),
    ]

@Test(arguments: rows.indices) func processEnds(_ index: Int) {
    let row = rows[index]
    var end = ServiceEnd(endsWithUpstream: row.endsWithUpstream, hasStream: row.hasStream)
    var results: [Result<Void, RelayError>?] = []
    for input in row.inputs { results.append(end.handle(input)) }
    let status: Support.ExitStatus? =
        switch results.last ?? nil {
        case .success: .success
        case .failure(let error): error.exit
        case nil: nil
        }
    #expect(status == row.status, "\(row.when)")
    #expect(results.dropLast().allSatisfy { $0 == nil }, "\(row.when): at once")
}
