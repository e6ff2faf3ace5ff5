/**
 * Perl, because a process that enters the namespaces of another must have one thread, which Node has not, and every
 * Debian has this interpreter and its modules Socket and Errno.
 *
 * It waits for lines `"id pid namespace"` on Node's own channel to a child, and for each of them forks a process that
 * enters the network of `pid`, opens a socket at the port there, sends it back as Node sends handles, and ends. The
 * waiting process itself never enters anything. It ends when the channel closes, so it does not outlive its starter.
 */
export const listenInside = String.raw`
use strict;
use warnings;
use Errno qw(EACCES EPERM);
use Socket;

my ($SETNS, $SENDMSG, $PORT) = map { $_ + 0 } @ARGV;
my ($CLONE_NEWUSER, $CLONE_NEWNET) = (0x10000000, 0x40000000);
my ($NS_GET_USERNS, $IP_FREEBIND, $SOCK_NONBLOCK, $SCM_RIGHTS) = (0xb701, 15, 2048, 1);

open(my $channel, '+<&=', $ENV{NODE_CHANNEL_FD}) or exit 1;
open(my $home, '<', '/proc/self/ns/net') or exit 1;
$SIG{CHLD} = 'IGNORE';

my $text = '';
while (sysread($channel, $text, 65536, length $text)) {
  while ($text =~ s/^(.*)\n//) {
    # Other lines are Node's receipts for handles.
    my ($id, $pid, $namespace) = $1 =~ /^"(\d+) (\d+) (\d+)"$/ or next;
    my $child = fork;
    report($id, 'fork') unless defined $child;
    next if !defined $child || $child;
    alarm 10;
    my $failed = serve($id, $pid, $namespace);
    report($id, $failed) if $failed;
    exit 0;
  }
}

# The name of the step that failed, with the reason in $!.
sub serve {
  my ($id, $pid, $namespace) = @_;
  my $network = open_network($pid) or return 'open';
  my $inode = (stat $network)[1];
  # Not the network that was meant: the process has ended, and its number is another's now.
  if ($inode != $namespace || $inode == (stat $home)[1]) { $! = 0; return 'check' }
  enter($network) or return 'enter';
  socket(my $listener, AF_INET, SOCK_STREAM | $SOCK_NONBLOCK, 0) or return 'socket';
  # The loopback interface may not be up yet.
  setsockopt($listener, Socket::IPPROTO_IP(), $IP_FREEBIND, 1) or return 'socket';
  bind($listener, sockaddr_in($PORT, INADDR_LOOPBACK)) or return 'bind';
  send_handle($id, $listener) or return 'send';
  return '';
}

# While it changes its user, a process is closed to others for a moment.
sub open_network {
  my ($pid) = @_;
  for (1 .. 500) {
    my $network;
    return $network if open($network, '<', "/proc/$pid/ns/net");
    last unless $!{EACCES};
    select(undef, undef, undef, 0.002);
  }
  return;
}

# Without privileges of our own, those over what we own must do: first the user namespace that the network belongs to.
sub enter {
  my ($network) = @_;
  return 1 if syscall($SETNS, fileno($network), $CLONE_NEWNET) == 0;
  return 0 unless $!{EPERM};
  my $owner = ioctl($network, $NS_GET_USERNS, 0) or return 0;
  return 0 if syscall($SETNS, $owner + 0, $CLONE_NEWUSER) != 0;
  return syscall($SETNS, fileno($network), $CLONE_NEWNET) == 0;
}

sub send_handle {
  my ($id, $socket) = @_;
  my $line = qq({"cmd":"NODE_HANDLE","type":"net.Native","msg":{"id":$id}}\n);
  my $vector = pack('P J', $line, length $line);
  my $control = pack('J i i i x4', 20, SOL_SOCKET, $SCM_RIGHTS, fileno($socket));
  my $message = pack('J L x4 P J P J i x4', 0, 0, $vector, 1, $control, length $control, 0);
  return syscall($SENDMSG, fileno($channel), $message, 0) == length $line;
}

sub report {
  my ($id, $step) = @_;
  my $errno = $! + 0;
  syswrite($channel, qq({"id":$id,"step":"$step","errno":$errno}\n));
}
`;
