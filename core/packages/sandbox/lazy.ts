import { createSandbox, type Sandbox, type SandboxOptions, type SandboxState } from './provider.ts'

/** A sandbox that is made when it is first needed. */
export type LazySandbox = {
  open: () => Promise<Sandbox>
  /** Null until it is made. */
  state: () => SandboxState | null
  close: () => Promise<void>
}

/** A sandbox that is opened when it is first asked for. Asking throws where it cannot be opened. */
export function createLazySandbox (options: SandboxOptions): LazySandbox {
  let opening: Promise<Sandbox> | undefined
  let opened: Sandbox | undefined

  async function make (): Promise<Sandbox> {
    opened = await createSandbox(options)
    return opened
  }

  return {
    open () {
      opening ??= make().catch((error: unknown) => {
        // The next one tries again: a full disk has room later.
        opening = undefined
        throw error
      })
      return opening
    },
    state: () => opened?.state() ?? null,
    async close () {
      await opening?.catch(() => undefined)
      await opened?.close()
    }
  }
}
