/** What the supervisor of the process is told (sd_notify(3)): that it is ready, that it stops, and until then that its event loop turns. */
export type Supervisor = { ready: () => void, [Symbol.dispose]: () => void }

/**
 * Speaks to the supervisor that NOTIFY_SOCKET names, as systemd does for `Type=notify`; does nothing without one. Where WATCHDOG_USEC is
 * set, it is told twice in that time that the event loop turns. Throws where Node cannot reach it: the supervisor would wait for ever.
 */
export function openSupervisor (env: NodeJS.ProcessEnv): Supervisor {
  const { NOTIFY_SOCKET: address, WATCHDOG_USEC: microseconds } = env
  if (address === undefined || address === '') return { ready: () => undefined, [Symbol.dispose]: () => undefined }
  const send = sender(address)
  const alive = microseconds === undefined ? undefined : setInterval(() => {
    send('WATCHDOG=1')
  }, Number(microseconds) / 2000).unref()
  return {
    ready () {
      send('READY=1')
    },
    [Symbol.dispose] () {
      clearInterval(alive)
      send('STOPPING=1')
    }
  }
}

/** Of the C library of Linux: AF_UNIX, SOCK_DGRAM with SOCK_CLOEXEC, MSG_NOSIGNAL with MSG_DONTWAIT. */
const [unix, datagram, flags] = [1, 2 | 0o2000000, 0x4000 | 0x40]

/** Node has no sockets of datagrams in the file system. */
function sender (address: string): (text: string) => void {
  const ffi = process.getBuiltinModule('node:ffi')
  const { functions: { socket, sendto } } = ffi.dlopen(null, {
    socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
    sendto: { arguments: ['i32', 'pointer', 'u64', 'i32', 'pointer', 'u32'], return: 'i64' }
  })
  const file = socket(unix, datagram, 0)
  // An address that begins with "@" is none of the file system: its first byte is 0.
  const path = Buffer.from(address.replace(/^@/, '\0'))
  const to = Buffer.concat([new Uint8Array(Uint16Array.of(unix).buffer), path, ...address.startsWith('@') ? [] : [Buffer.of(0)]])
  return (text) => {
    const bytes = Buffer.from(text)
    sendto(file, ffi.getRawPointer(bytes), BigInt(bytes.byteLength), flags, ffi.getRawPointer(to), to.byteLength)
  }
}
