extension ChannelSession: IngestSession {}
