import Glibc
import SoakHarness

exit(await SoakCommand.run(Array(CommandLine.arguments.dropFirst())))
