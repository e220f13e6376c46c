import type { Peppol, PeppolOptions } from './directory.ts'

/** The directory of Peppol. Few installations ask it, so that its modules are loaded with the first question. */
export function createPeppol (options: PeppolOptions): Peppol {
  let opened: Promise<Peppol> | undefined
  return {
    async ask (address) {
      opened ??= import('./directory.ts').then(({ openPeppol }) => openPeppol(options))
      return (await opened).ask(address)
    }
  }
}
