import Glibc
import HistoryHarness

exit(await HistoryCommand.run(Array(CommandLine.arguments.dropFirst())))
