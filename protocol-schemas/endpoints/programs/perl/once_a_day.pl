#!/usr/bin/perl
# Has a prompt run once a day, in Perl without any module but its own. It speaks on standard input and output, or, with
# the path of the hub's socket as a fourth argument, attaches to a hub that runs already:
#     once_a_day.pl 07:30 /home/me/project "Run the tests and tell me what is broken" [SOCKET]
use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use JSON::PP;
use POSIX qw(strftime);

my ($time, $folder, $prompt, $path) = @ARGV;
die "usage: once_a_day.pl HH:MM FOLDER PROMPT [SOCKET]\n" unless defined $prompt && $time =~ /^\d\d:\d\d$/;

my $json = JSON::PP->new->utf8->allow_nonref;
my ($in, $out) = (\*STDIN, \*STDOUT);
$in = $out = IO::Socket::UNIX->new(Peer => $path) || die "$path: $!\n" if defined $path;
$out->autoflush(1);
binmode $_ for $in, $out;
utf8::decode($_) for $folder, $prompt;

my ($attached, $fired) = (0, "");

sub say_to_hub { print {$out} $json->encode({ jsonrpc => "2.0", @_ }) . "\n" }

# The day is the id of the fire: the hub runs it once, however often we start, attach and ask.
sub fire_if_due {
    my ($day, $now) = (strftime("%Y-%m-%d", localtime), strftime("%H:%M", localtime));
    return if !$attached || $day eq $fired || $now lt $time;
    say_to_hub(id => $day, method => "schedule/fire",
        params => { fireId => $day, prompt => $prompt, folder => $folder, mode => "plan", job => "once a day" });
    $fired = $day;
}

# Returns false when it was the last message.
sub take {
    my ($message) = @_;
    my ($method, $id) = @$message{qw(method id)};
    if (!defined $method) {
        return 1 unless $message->{error};
        print STDERR "the hub refused: $message->{error}{message}\n";
        $fired = "";    # again in a minute
        return 1;
    }
    if ($method eq "closing") {
        print STDERR "$message->{params}{message}\n";
        return 0;
    }
    return 1 unless exists $message->{id};    # other notifications are ignored
    if ($method eq "initialize") {
        say_to_hub(id => $id, result => { protocolVersion => 1, role => "scheduler", capabilities => {},
            endpointInfo => { name => "reference-perl", version => "1.0" } });
        $attached = 1;
    } elsif ($method =~ m{^(ping|shutdown|schedule/finished)$}) {
        say_to_hub(id => $id, result => {});
        print STDERR "$message->{params}{status}: @{[$message->{params}{text} // '']}\n" if $method =~ /finished/;
    } else {
        say_to_hub(id => $id, error => { code => -32601, message => "no method $method" });
    }
    return $method ne "shutdown";
}

my ($waiting, $rest) = (IO::Select->new($in), "");
while (1) {
    fire_if_due();
    next unless $waiting->can_read(60 - time % 60);    # the beginning of the next minute
    last unless sysread $in, $rest, 65536, length $rest;
    while ($rest =~ s/^([^\n]*)\n//) {
        my $line = $1;
        next unless $line =~ /\S/;
        my $message = eval { $json->decode($line) };
        if (ref $message ne "HASH") {
            say_to_hub(id => undef, error => { code => -32700, message => "not JSON" });
        } elsif (!take($message)) {
            exit 0;
        }
    }
}
