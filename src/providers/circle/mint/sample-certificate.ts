import type { X509Certificate } from 'node:crypto'
import { createPrivateKey, sign } from 'node:crypto'

/**
 * The certificate and key that sample messages are signed with. They are printed here, so whoever trusts the
 * certificate trusts everybody: an endpoint that has it counts as one for tests.
 */
export const SAMPLE_CERTIFICATE_URL =
  'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-00000000000000000000000000000000.pem'

const CERTIFICATE = [
  'MIIDNTCCAh2gAwIBAgIBATANBgkqhkiG9w0BAQsFADA3MRkwFwYDVQQKDBBQYWlkT25jZSBzYW1wbGVzMRowGAYDVQQDDBFz',
  'bnMuYW1hem9uYXdzLmNvbTAgFw0yMDAxMDEwMDAwMDBaGA8yMDk5MTIzMTIzNTk1OVowNzEZMBcGA1UECgwQUGFpZE9uY2Ug',
  'c2FtcGxlczEaMBgGA1UEAwwRc25zLmFtYXpvbmF3cy5jb20wggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQCpp6LA',
  'b+YVPnvGGM51AnGFrhWzsrNdiMcemJ01KCcNU3Qj7SfKmlRZmQ7RKF95wefULdBe5n2XyWlL7gh4RbjLsLbK0PE5j1GWmo/s',
  '1FX3mmBgAt8A+nRfo+EPPt8FfHqPTGLoFF/m68FlgF2/ZjcmUwfOM5vWPEmXtWjf7nV/4Ljvh0CpqWXY4GsckdBMk89wdXmm',
  'xkqLFT60ISwn1yjdv4VmaqBR0qb3XuxWfMDpDL9H6tzOQCRQi8pi+hLmWqukhLSslPITQGgvNSYGPrEsbGlVnyrp5MXcVYnT',
  'Qxvbzhs4MMDFEJL8Jmt2hQMXfNeRqd2Kv5dvPp8TpYW17sa5AgMBAAGjSjBIMAkGA1UdEwQCMAAwHAYDVR0RBBUwE4IRc25z',
  'LmFtYXpvbmF3cy5jb20wHQYDVR0OBBYEFJ5+M6fsJtyEX53rX95o5BvFqXdwMA0GCSqGSIb3DQEBCwUAA4IBAQAcn916HIiP',
  '5+bIMYr5fVMAQLhSm9udqCd77pHvk+oht1UEqUK4bj3iBpPtflm1eOLahg/5YsIX05EOQ0bdh7UTV/3au6QnqIFdBmTlrFSO',
  'OjCEd2j5v/LJAE3RcymCT9iUgw535T779OR42D8IkV1DrTZcooC+yOum7jXBN2poPMaJmwxqC4TB7kiDb0wcfqqNL7gotN9p',
  'wkWDooo9znXocfcANirs4dvhX2W9N9RhITYEaZTogoLwATicZUFsBHYLyW/8hpR4W5gt8i2MNedgPZAkl6zkTgTiYe1ATaiP',
  '5ckOtybhi+ehBnQPhe7W+a15WEmff6T5aCqqUd02JgOD',
].join('')

const PRIVATE_KEY = [
  'MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCpp6LAb+YVPnvGGM51AnGFrhWzsrNdiMcemJ01KCcNU3Qj',
  '7SfKmlRZmQ7RKF95wefULdBe5n2XyWlL7gh4RbjLsLbK0PE5j1GWmo/s1FX3mmBgAt8A+nRfo+EPPt8FfHqPTGLoFF/m68Fl',
  'gF2/ZjcmUwfOM5vWPEmXtWjf7nV/4Ljvh0CpqWXY4GsckdBMk89wdXmmxkqLFT60ISwn1yjdv4VmaqBR0qb3XuxWfMDpDL9H',
  '6tzOQCRQi8pi+hLmWqukhLSslPITQGgvNSYGPrEsbGlVnyrp5MXcVYnTQxvbzhs4MMDFEJL8Jmt2hQMXfNeRqd2Kv5dvPp8T',
  'pYW17sa5AgMBAAECggEACVZ75kSicNk7aHgKu7T9OO2P2JAFlaiGxn/W6KCY+apLZ64mH7LRNrdDx1kGBvEYc1IW4x+jmlxQ',
  'dTNDoxRkq01thN9C5Qym4c0IY/F8o9VgPZia2/ZtEQCM+CZZPHeRVVwlINSnl1Gy7NpyY9ZamGY/NTxw9OCPmmU2lwYMez51',
  'FKz+0zHMDysEbIouquHdROZtPQOi5N1KITnb39mCTlDa4mli5yo4PZqlxniKedNaKc+U8PzI4bE4DXL41ve2mhayb4NHaCNa',
  'In3TdfXY64LzU0AFylAWufdQBRQE9GBmlMdBGr/F2EpBf8FIKI8UeS9A4w+KKtcMEiRyU2eCwwKBgQDYmxdi8BiGGVVBH7ki',
  'UMQ8BTWt2dHYyk3yjy9kfjZWLO/KcWkf59jzonIMrgseFB2l+EpoS4KgDZwfNRWqcSkj8c43pb2OShGeza2RdvHnKpe1oHTX',
  'Ioy0AlNrDs0cfXmPmiWDk/C2ustbFMpD3TZfVlI/uJPJ+KWmNJhmQAt5EwKBgQDIgo/ck2w8TqMTBl9ak+KVxA3V2NbhTkR6',
  'D4k48HbhcPBiyCI7W0+4/4hpoHL8/yA8A/qs5C17GJ6FXTQlUxm9CL4Xnp5oHvSARP2eTDw546d7bRs1M85rxDfALylJ5OlA',
  '+tk/xS0c/LV7ka9l4EfKyVMwCDI4k701ZSXDdW0mgwKBgQDS/0Dov7kj58mEhsJxCvwc+3Yuw+AGrgsAHTqtScTkbSGospEU',
  '42QS8ErozyFFS5MV+aeBsQytnJRYUf2o6lKJESMwUeM0mDJR30kUSimaZYMjCgrHBoDJWPqpbuGevxuLJz0jzxjM52jwcHAX',
  'a4VrmUrFh6dvNycloFZURE7owQKBgAPs4mocDLtlgrXFoyo/yOjLrMWp+BLzGE4XbcVKl9kz/9C/QERPNlFV11LSDE49pGDo',
  'ZwjpcqZ9ReUwfOvaI5/awvXtagZ5zKmSMDDgJzGu7kFxUl4JRJpBfiHqCnHi5FocTxJ7hrWRkO/5Wyiwaldi95jyICGRatvX',
  'vhSEgP2HAoGBAJekl73rQ9UohQ69F2UtU0s1HqJl3ifbvFbyJKe21ofpNjgE/RJwCDTwVh6g9SONIO2pEAoEuSExg0N2Z+Kx',
  'w9zbN22DavLmyz5UA4wlfuFdW82Fgp/mZCusMkKHy1DSGMCwyNVN13D/4Bsb5drlKiZITLY8RzPa/iaZlSo3asL7',
].join('')

export const SAMPLE_CERTIFICATE = `-----BEGIN CERTIFICATE-----\n${CERTIFICATE}\n-----END CERTIFICATE-----\n`

export function isSampleCertificate(certificate: X509Certificate): boolean {
  return certificate.raw.toString('base64') === CERTIFICATE
}

/** RSA with SHA-256, as signature version 2 has it. */
export function signWithSampleCertificate(text: string, algorithm: 'sha1' | 'sha256' = 'sha256'): string {
  const key = createPrivateKey({ key: Buffer.from(PRIVATE_KEY, 'base64'), format: 'der', type: 'pkcs8' })
  return sign(algorithm, Buffer.from(text), key).toString('base64')
}
