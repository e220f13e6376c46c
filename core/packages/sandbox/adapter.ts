import type { Launch } from './launch.ts'
import type { Walls } from './walls.ts'

/**
 * What is started: an adapter in a version. `load` is what its process is asked first, and may take `loadLimit` milliseconds. Before each
 * start `verify` runs, and rejects where the files are not what was installed; then `launch` looks at them. Before, none need be there.
 */
export type Adapter = {
  code: string
  folder: string
  entry: string
  launch: () => Promise<Launch>
  loadLimit?: number
  verify?: () => Promise<void>
  /** Told why, where a process has ended otherwise than it was asked to. */
  onCrash?: (why: string) => void
  /** Rejects what is told of the walls of a process that are too few for this adapter, before anything of it is loaded. */
  admit: (walls: Walls) => void
}

/** Who has work: an account, whose company's id stands before its first `|`. Nobody waits for it any more once it has `ended`. */
export type Worker = { account: string, ended?: AbortSignal }
