import type { words as en } from './words.en.ts'

export const words: Readonly<Record<keyof typeof en, string>> = {
  eInvoices: 'Factures électroniques',
  eInvoicesIntro:
    'Lisez une facture électronique reçue : ce qu’elle dit, si elle est juste, et ce qui ne va pas, avec l’endroit. Rien n’est conservé.',
  eInvoiceFile: 'Fichier',
  eInvoiceFileHelp: 'UBL, CII, ou un PDF qui en contient un (Factur-X, ZUGFeRD, XRechnung). 25 Mio au plus.',
  eInvoiceRead: 'La lire',
  eInvoiceCredit: 'En faire un avoir',
  eInvoiceCreditHelp: 'Le formulaire s’ouvre avec un avoir sur toute la facture, si elle est une des vôtres.',
  eInvoiceRefused: 'Le fichier ne peut pas être lu.',
  eInvoiceNoCredit: 'Il n’y a pas d’avoir pour un avoir.',
  eInvoiceFacts: 'Ce qu’elle dit',
  eInvoiceFormat: 'Format',
  eInvoiceProfile: 'Profil',
  eInvoiceNumber: 'Numéro',
  eInvoiceDate: 'Date',
  eInvoiceSeller: 'Vendeur',
  eInvoiceCustomer: 'Client',
  eInvoiceTotal: 'Total',
  eInvoiceDue: 'Montant dû',
  eInvoiceProblems: 'Règles enfreintes',
  eInvoiceWarnings: 'Remarques',
  eInvoiceNothing: 'Aucune.',
  eInvoiceRule: 'Règle',
  eInvoicePlace: 'Endroit dans les données',
  eInvoiceElement: 'Endroit dans le fichier',
  eInvoiceRight: 'Ce qui serait juste',
  eInvoiceLost: 'Absent des données',
  eInvoiceData: 'Données',
  eInvoiceText: 'Texte'
}
