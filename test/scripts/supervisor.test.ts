import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openSupervisor } from '../../scripts/supervisor.ts'

const ffi = process.getBuiltinModule('node:ffi')
const { functions: { socket, bind, recv, close } } = ffi.dlopen(null, {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  bind: { arguments: ['i32', 'pointer', 'u32'], return: 'i32' },
  recv: { arguments: ['i32', 'pointer', 'u64', 'i32'], return: 'i64' },
  close: { arguments: ['i32'], return: 'i32' }
})

/** Listens as systemd does. */
function supervisorAt (t: Test, name: Buffer): () => Promise<string> {
  const file = socket(1, 2, 0)
  const address = Buffer.concat([Buffer.of(1, 0), name])
  t.equal(bind(file, ffi.getRawPointer(address), address.byteLength), 0)
  t.teardown(() => void close(file))
  return async () => {
    const bytes = Buffer.alloc(100)
    for (;;) {
      // MSG_DONTWAIT
      const length = Number(recv(file, ffi.getRawPointer(bytes), 100n, 0x40))
      if (length > 0) return bytes.subarray(0, length).toString()
      await pause(5)
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'dispatch-supervisor-'))
t.teardown(() => {
  rmSync(folder, { recursive: true })
})
const path = join(folder, 'notify')
const abstract = `dispatch-${process.pid}`

for (const [address, name] of [[path, Buffer.from(`${path}\0`)], [`@${abstract}`, Buffer.from(`\0${abstract}`)]] as const) {
  await t.test(`the supervisor at ${address.slice(0, 1)}… is told of readiness, of life and of the end`, async (t) => {
    const heard = supervisorAt(t, name)
    const supervisor = openSupervisor({ NOTIFY_SOCKET: address, WATCHDOG_USEC: '20000' })
    t.equal(await heard(), 'WATCHDOG=1')
    supervisor.ready()
    let told = await heard()
    while (told === 'WATCHDOG=1') told = await heard()
    t.equal(told, 'READY=1')
    supervisor[Symbol.dispose]()
    told = await heard()
    while (told === 'WATCHDOG=1') told = await heard()
    t.equal(told, 'STOPPING=1')
  })
}

void t.test('without a supervisor nobody is told', (t) => {
  const supervisor = openSupervisor({})
  supervisor.ready()
  supervisor[Symbol.dispose]()
  t.end()
})
