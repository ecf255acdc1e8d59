import ArgumentParser
import Channel
import ChannelList
import Fetch
import LiveRing
import Service
import Support
import Tracker

/// How upstreams and lists are requested: what every request carries, unless a channel says otherwise.
struct RequestArguments: ParsableArguments {
    @Option(
        name: [.customLong("header"), .customLong("http-header")],
        help: ArgumentHelp(
            "Header for every request, as 'Name: value' or Name=value; repeatable.",
            discussion: """
                Authorization, X-Api-Key and similar headers are sent to the upstream's own origin only, and so is a \
                password in its URL.
                """, valueName: "header"))
    var headers: [HeaderArgument] = []

    @Option(help: ArgumentHelp(.userAgent))
    var userAgent = "liverelay"

    @Option(help: ArgumentHelp(.cookie))
    var cookie: String?

    @Option(help: ArgumentHelp(.proxy))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "File of certificate authorities (PEM) to trust besides the system's.",
            discussion: "By default the file that SSL_CERT_FILE names, if it is set.", valueName: "file"),
        completion: .file())
    var caFile: String?

    /// The configuration of a channel, without its sources and its spool.
    /// - Parameters:
    ///   - options: the options of the command's channels, which apply to the requests of lists too.
    ///   - rewind: the rewind of channels that do not say otherwise.
    func configuration(_ options: ChannelOptions, rewind: Duration = ConfigurationKey.usualRewind) -> RelayConfiguration
    {
        var requests = CurlConfiguration()
        requests.headers = headers.map { RequestHeader(name: $0.name, value: $0.value) }
        requests.userAgent = userAgent
        requests.cookie = cookie.map { Secret($0) }
        requests.proxy = proxy.map { Secret($0) }
        requests.certificateAuthorities = caFile
        var configuration = RelayConfiguration(
            upstream: "", giveUp: ConfigurationKey.usualGiveUp, spool: "",
            retention: RetentionPolicy(rewind: rewind, liveWindow: ConfigurationKey.usualWindow), requests: requests,
            polling: .blocking)
        configuration.apply(requestsOf: options)
        return configuration
    }

    func validate() throws {
        let complaints = [
            OptionChecks.headerValue(userAgent, of: "--user-agent"), cookie.flatMap { OptionChecks.cookie($0) },
            proxy.flatMap { OptionChecks.proxy($0) }, caFile.flatMap { OptionChecks.certificates($0) },
        ]
        if let complaint = complaints.compactMap(\.self).first { throw ValidationError(complaint) }
    }

    func check(_ options: ChannelOptions) throws {
        guard options.deniesPrivate == true, proxy != nil else { return }
        throw ValidationError("--deny-private has no effect with --proxy: the proxy resolves names itself.")
    }
}
