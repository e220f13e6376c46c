import type { Keyring } from '../access/keyring.ts'
import type { Renderer } from '../documents/renderer.ts'
import type { Breakers } from '../host/breaker.ts'
import type { Host } from '../host/host.ts'
import type { Log } from '../host/log.ts'
import type { Network } from '../host/network.ts'
import type { Spool } from '../host/spool.ts'
import type { Configurations } from '../store/configurations.ts'
import type { Database } from '../store/database.ts'
import type { Files } from '../store/files.ts'
import type { Templates } from '../store/templates.ts'

/** What the pipeline works with. */
export type Parts = {
  database: Database
  configurations: Configurations
  templates: Templates
  files: Files
  host: Host
  breakers: Breakers
  network: Network
  spool: Spool
  /** The folder on the operator's disk that providers may write to. */
  diskRoot?: string
  renderer: Renderer
  keyring: Keyring
  log: Log
  now: () => Date
  /** A UUIDv7. */
  newId: () => string
}
