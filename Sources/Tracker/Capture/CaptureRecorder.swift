package import Foundation

/// An upstream that stores what another one answered.
package actor CaptureRecorder: Upstream {
    private let upstream: any Upstream
    private let now: @Sendable () -> Duration
    private var writer: CaptureWriter
    /// The first thing that could not be stored; recording ended there, fetching did not.
    package private(set) var failure: CaptureError?

    /// - Parameters:
    ///   - directory: created if needed; must hold no capture yet.
    ///   - address: of the channel, for the index.
    ///   - now: time since the recording began.
    /// - Throws: `.alreadyRecorded`, `.unwritable`.
    package init(
        _ upstream: any Upstream, to directory: URL, address: String, about: String = "",
        now: @escaping @Sendable () -> Duration
    ) throws(CaptureError) {
        self.upstream = upstream
        self.now = now
        writer = try CaptureWriter(directory, upstream: address, about: about)
    }

    /// What the wrapped upstream answers; stored before it is handed on, unless we ourselves gave the request up.
    package func fetch(_ request: FetchRequest) async -> FetchOutcome {
        let asked = now()
        let outcome = await upstream.fetch(request)
        let took = now() - asked
        guard failure == nil else { return outcome }
        do throws(CaptureError) {
            guard let ending = try ending(of: outcome) else { return outcome }
            try writer.append(
                CapturedExchange(at: asked, took: took, url: request.url, byteRange: request.byteRange, ending: ending))
        } catch {
            failure = error
        }
        return outcome

        func ending(of outcome: FetchOutcome) throws(CaptureError) -> CapturedExchange.Ending? {
            switch outcome {
            case .failure(let error): error.reason == .cancelled ? nil : .failure(error.reason)
            case .success(let answer):
                .answer(
                    CapturedAnswer(
                        status: answer.status,
                        finalURL: answer.finalURL == request.url ? nil : answer.finalURL,
                        headers: answer.headers.filter(\.outlivesItsConnection),
                        body: try writer.store(answer.body, from: request.url)))
            }
        }
    }
}

extension FetchAnswer.Header {
    /// Not about the transfer, which is over (the body is stored decompressed), and no secret of this client.
    fileprivate var outlivesItsConnection: Bool {
        let spent: Set = [
            "connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "transfer-encoding",
        ]
        return !spent.contains(name.lowercased())
    }
}
