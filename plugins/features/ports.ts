import type { Dependencies } from '../container/dependencies.ts'
import { token } from './token.ts'

/** What the service itself needs of features: they provide it as they provide what others need. Without one no service is started. */
export const ports = {
  connections: token<Dependencies['connections']>('connections'),
  outbox: token<Dependencies['outbox']>('outbox'),
  waitingEvents: token<Dependencies['waitingEvents']>('waitingEvents'),
  templates: token<Dependencies['templates']>('templates')
}
