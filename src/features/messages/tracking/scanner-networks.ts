import { BlockList, isIPv4 } from 'node:net'

// Networks from which mailbox providers look at links: Google's, and those of Microsoft's mail protection. Not
// complete, and no proof by themselves: they only lengthen the time in which a click is taken for a machine's.
const networks = [
  '66.102.0.0/20',
  '66.249.64.0/19',
  '72.14.192.0/18',
  '74.125.0.0/16',
  '209.85.128.0/17',
  '40.92.0.0/15',
  '40.107.0.0/16',
  '52.100.0.0/14',
  '104.47.0.0/17',
]

const list = new BlockList()
for (const network of networks) {
  const [address = '', bits] = network.split('/')
  list.addSubnet(address, Number(bits))
}

export function isScannerNetwork(ip: string): boolean {
  return isIPv4(ip) && list.check(ip)
}
