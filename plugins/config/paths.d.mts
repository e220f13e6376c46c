/** The path of the repository. */
export const root: string

/** The path of the data directory: `DISPATCH_DATA_DIR`, else `data` in the repository. An empty variable counts as absent. */
export function dataDirectoryOf (env: NodeJS.ProcessEnv): string
