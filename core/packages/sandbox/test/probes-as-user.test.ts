/** The same as another user than root: what adapters try, from a service that has no rights. */
import { setgid, setgroups, setuid } from 'node:process'

/** A user that no system gives to anybody. */
const user = 51_234

if (process.getuid?.() === 0) {
  setgroups?.([])
  setgid?.(user)
  setuid?.(user)
}
await import('./probes.test.ts')
