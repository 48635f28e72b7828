class NotEnough(Exception):
    def __init__(self, missing):
        super().__init__(missing)
        self.missing = missing


class Account:
    def __init__(self, balance=0):
        self.balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError(amount)
        self.balance += amount

    def withdraw(self, amount):
        if amount > self.balance:
            raise NotEnough(amount - self.balance)
        self.balance -= amount
