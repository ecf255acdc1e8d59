import Channel

extension StatusLine {
    /// `480 channels   3 running   2 watched   1 problem`
    package static func text(of host: ChannelHost) -> String {
        let overview = host.overview
        let entries = overview.channels.values
        let running = entries.count { $0.state.run != nil }
        let watched = entries.count { $0.streams > 0 || !$0.waiters.isEmpty || $0.presentUntil > overview.uptime }
        let problems = overview.channels.count { slug, entry in
            if case .failed = entry.state { return true }
            return overview.statuses[slug]?.state == .outage
        }
        return join([
            number(overview.directory.channels.count, "channel"), "\(running) running", "\(watched) watched",
            problems == 0 ? nil : number(problems, "problem"),
        ])
    }
}
