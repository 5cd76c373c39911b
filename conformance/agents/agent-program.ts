import type { DialectId } from '../../src/dialects/dialect-id.ts';

/** The address of Weir for a program, and the home directory for its configuration. */
type AgentPlace = {
  readonly gatewayUrl: string;
  readonly apiKey: string;
  readonly home: string;
};

/** The files that a user writes once so that a program uses Weir, and the program's command line. */
type AgentSetup = {
  /** Configuration files by their path below the home directory. */
  readonly files: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: (prompt: string) => readonly string[];
};

/** An agent program, in one of the ways in which it can be configured for a gateway. */
export type AgentProgram = {
  readonly title: string;
  /** Package on the npm registry, the version that is run, and its command. */
  readonly package: string;
  readonly version: string;
  readonly binary: string;
  /** Interface that it speaks. */
  readonly dialect: DialectId;
  /** Whether it speaks as to a cloud, with other paths and bodies than those of its interface. Absent: no. */
  readonly isInCloudMode?: boolean;
  readonly setUp: (place: AgentPlace) => AgentSetup;
  /** A read-only tool of the program, and the arguments that make it show a file. */
  readonly readTool: { readonly name: string; readonly arguments: (file: string) => Readonly<Record<string, unknown>> };
};
