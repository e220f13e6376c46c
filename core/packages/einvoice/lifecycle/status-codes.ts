/** Which messages a status comes with: about the transmission of an invoice (305), or about its treatment (23). */
export type StatusPhase = '305' | '23'

/** A status of the French life cycle of invoices (AFNOR XP Z12-012). `ack`: its code of UNTDID 1373 where it has one. */
export type StatusFacts = { name: string, phase: StatusPhase, ack?: string, reasons?: readonly string[] }

const reasons = (list: string): readonly string[] => list.trim().split(/\s+/)
/** What is wrong with the order or its delivery. */
const ofOrder = 'CMD_ERR SIRET_ERR CODE_ROUTAGE_ERR REF_CT_ABSENT REF_ERR PU_ERR REM_ERR QTE_ERR ART_ERR MODPAI_ERR QUALITE_ERR LIVR_INCOMP'

/** The statuses by their codes (MDT-105), with the codes of reasons that each takes (MDT-113; BR-FR-CDV-CL-09). */
export const statusCodes = {
  200: { name: 'Déposée', phase: '305', ack: '10', reasons: ['NON_TRANSMISE'] },
  201: { name: 'Émise', phase: '305', ack: '51' },
  202: { name: 'Reçue', phase: '305', ack: '43' },
  203: { name: 'Mise à disposition', phase: '305', ack: '48' },
  204: { name: 'Prise en charge', phase: '23', ack: '45' },
  205: { name: 'Approuvée', phase: '23', ack: '1' },
  206: { name: 'Approuvée partiellement', phase: '23', ack: '49', reasons: reasons(`AUTRE ${ofOrder}`) },
  207: {
    name: 'En litige',
    phase: '23',
    ack: '46',
    reasons: reasons('AUTRE COORD_BANC_ERR TX_TVA_ERR MONTANTTOTAL_ERR CALCUL_ERR NON_CONFORME DOUBLON DEST_INC DEST_ERR TRANSAC_INC ' +
      `EMMET_INC CONTRAT_TERM DOUBLE_FACT ${ofOrder}`)
  },
  208: {
    name: 'Suspendue',
    phase: '23',
    ack: '39',
    reasons: reasons('JUSTIF_ABS COORD_BANC_ERR CMD_ERR SIRET_ERR CODE_ROUTAGE_ERR REF_CT_ABSENT REF_ERR')
  },
  209: { name: 'Complétée', phase: '23', ack: '37' },
  210: {
    name: 'Refusée',
    phase: '23',
    ack: '50',
    reasons: reasons('TX_TVA_ERR MONTANTTOTAL_ERR CALCUL_ERR NON_CONFORME DOUBLON DEST_ERR TRANSAC_INC EMMET_INC CONTRAT_TERM ' +
      'DOUBLE_FACT CMD_ERR ADR_ERR REF_CT_ABSENT')
  },
  211: { name: 'Paiement transmis', phase: '23', ack: '47' },
  212: { name: 'Encaissée', phase: '23', ack: '47' },
  213: {
    name: 'Rejetée',
    phase: '305',
    ack: '8',
    reasons: reasons('MONTANTTOTAL_ERR CALCUL_ERR DOUBLON DEST_INC ADR_ERR REJ_SEMAN REJ_UNI REJ_COH REJ_ADR REJ_REF_PJ REJ_ASS_PJ')
  }
} as const satisfies Readonly<Record<string, StatusFacts>>

/** The code of a status whose messages can be written: 200 to 213. */
export type StatusCode = `${keyof typeof statusCodes}`

export function isStatusCode (code: string): code is StatusCode {
  return Object.hasOwn(statusCodes, code)
}

export function factsOf (code: StatusCode): StatusFacts {
  return statusCodes[code as unknown as keyof typeof statusCodes]
}

/** The codes of reasons that a status takes; none where it says no reason, or takes any. */
export function reasonsOf (code: StatusCode): readonly string[] {
  return factsOf(code).reasons ?? []
}

/** The statuses that say why (BR-FR-CDV-15). */
export const reasonedStatuses: ReadonlySet<string> = new Set(['206', '207', '208', '210', '213', '501'])

/** The types of invoices that French platforms know (MDT-91; BR-FR-04). */
export const statusTypes: ReadonlySet<string> = new Set(
  ['380', '389', '393', '501', '386', '500', '384', '471', '472', '473', '261', '262', '381', '396', '502', '503']
)

/** What is to be done (MDT-121). */
export const actionCodes: ReadonlySet<string> = new Set(['NOA', 'PIN', 'NIN', 'CNF', 'CNP', 'CNA', 'OTH'])

/** What an amount of a status is (MDT-207): MEN is what has been received, MPA what was paid. */
export const amountKinds: ReadonlySet<string> = new Set(
  ['MEN', 'MPA', 'RAP', 'ESC', 'RAB', 'REM', 'MAP', 'MAPTTC', 'MNA', 'MNATTC', 'CBB', 'DIV', 'DVA', 'MAJ']
)

/** Who says something, and to whom (MDT-40, MDT-59): the seller, the buyer, a platform, the public portal, and those who act for them. */
export const roles: ReadonlySet<string> = new Set(['BY', 'AB', 'DL', 'SE', 'SR', 'WK', 'PE', 'PR', 'II', 'IV', 'DFH'])
