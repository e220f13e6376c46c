import type { AppDependencies } from '../container/dependencies.ts'
import { token } from './token.ts'

/** What the service itself needs of features: they provide it as they provide what others need. Without one no service is started. */
export const ports = {
  connections: token<AppDependencies['connections']>('connections'),
  outbox: token<AppDependencies['outbox']>('outbox'),
  waitingEvents: token<AppDependencies['waitingEvents']>('waitingEvents'),
  templates: token<AppDependencies['templates']>('templates')
}
